// Browsers start no worker for a page that is opened from a disk. There, a hidden frame does its work.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.srcdoc = "<!doctype html><title>search</title>";
      this.frame.addEventListener("load", () => this.start(url), { once: true });
      document.body.append(this.frame);
    }
    start(url) {
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = inside.document.createElement("script");
      script.src = url;
      script.addEventListener("load", () => {
        this.ready = true;
        this.waiting.splice(0).forEach((data) => this.postMessage(data));
      });
      inside.document.head.append(script);
    }
    postMessage(data) {
      if (!this.ready) return void this.waiting.push(data);
      const inside = this.frame.contentWindow;
      inside.dispatchEvent(new inside.MessageEvent("message", { data }));
    }
    terminate() {
      this.frame.remove();
    }
  };
}
