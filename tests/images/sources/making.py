"""Makes Parquet files in the layout of the Hugging Face hub."""

import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image


def png(pixels):
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


def write(path, contents, labels, *, column="img", label="label", names=None, flat=False):
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = contents if flat else [{"bytes": content, "path": None} for content in contents]
    kind = pa.binary() if flat else pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    table = pa.table({column: pa.array(rows, kind), label: labels})
    if names:
        features = {"info": {"features": {label: {"names": names, "_type": "ClassLabel"}}}}
        table = table.replace_schema_metadata({"huggingface": json.dumps(features)})
    pq.write_table(table, path, row_group_size=4)
