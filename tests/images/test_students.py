import pytest
import torch

from lqm.engine.randomness import generator, seeded
from lqm.images.networks import ConvNet
from lqm.images.students import Student, StudentQueue, draw_real

CPU = torch.device("cpu")


def make(number, norm="instance"):
    with seeded(0, "student", number):
        return ConvNet((1, 8, 8), 10, width=8, depth=2, norm=norm)


def learn(student, digits, steps, first=0):
    for i in range(first, first + steps):
        student.learn(*draw_real(digits, 64, generator(0, "batch", i), CPU))


def test_a_student_learns_and_knows_how_often_it_was_right(digits):
    student = Student(make(0))
    assert student.accuracy == 0
    right = seen = 0
    for i in range(60):
        images, labels = draw_real(digits, 64, generator(0, "batch", i), CPU)
        with torch.no_grad():
            right += (student.network(images).argmax(dim=1) == labels).sum().item()
        seen += 64
        student.learn(images, labels)
    assert student.accuracy == pytest.approx(right / seen)
    assert student.accuracy > 0.3


@pytest.mark.parametrize("norm", ["instance", "batch"])
def test_a_student_taken_up_again_goes_on_bit_for_bit(digits, norm):
    straight, first, second = (Student(make(0, norm)) for _ in range(3))
    learn(straight, digits, 6)
    learn(first, digits, 3)
    second.load_state({name: tensor.clone() for name, tensor in first.state().items()})
    learn(second, digits, 3, first=3)
    assert second.accuracy == straight.accuracy
    expected = straight.state()
    assert second.state().keys() == expected.keys()
    assert all(tensor.equal(expected[name]) for name, tensor in second.state().items())


def weights(queue):
    return [student.network.classifier.weight for student in queue.students]


def test_the_oldest_goes_when_the_queue_is_full():
    queue = StudentQueue(make, first=3, limit=4)
    assert all(w.equal(make(i).classifier.weight) for i, w in enumerate(weights(queue)))
    queue.push()
    queue.push()
    kept = zip((1, 2, 3, 4), weights(queue), strict=True)
    assert all(weight.equal(make(i).classifier.weight) for i, weight in kept)


def test_students_are_drawn_without_replacement():
    queue = StudentQueue(make, first=4, limit=9)
    for i in range(20):
        drawn = queue.draw(3, generator(0, "x", i))
        assert len({id(student) for student in drawn}) == 3
    assert len(queue.draw(9, generator(0, "x"))) == 4


def test_a_queue_taken_up_again_has_the_same_students_and_makes_the_same_new_ones(digits):
    queue, other = (StudentQueue(make, first=2, limit=3) for _ in range(2))
    learn(queue.students[0], digits, 2)
    queue.push()
    other.load_state({name: tensor.clone() for name, tensor in queue.state().items()})
    for each in (queue, other):
        each.push()
    assert all(a.equal(b) for a, b in zip(weights(queue), weights(other), strict=True))
    assert weights(other)[-1].equal(make(3).classifier.weight)
    assert other.students[0].accuracy == queue.students[0].accuracy


def test_a_batch_has_distinct_normalised_images_of_all_classes(digits):
    images, labels = draw_real(digits, 500, generator(0, "x"), CPU)
    assert len(images.flatten(1).unique(dim=0)) > 490
    assert set(labels.tolist()) == set(range(10))
    assert images.mean().abs() < 0.1


def test_layers_that_share_a_weight_can_be_saved(digits):
    from safetensors.torch import save

    network = make(0)
    network.twin = network.classifier
    student = Student(network)
    learn(student, digits, 1)
    assert save(student.state())


def test_a_state_is_a_copy_which_later_learning_leaves_alone(digits):
    student = Student(make(0))
    learn(student, digits, 1)
    state = student.state()
    before = {name: tensor.clone() for name, tensor in state.items()}
    learn(student, digits, 1, first=1)
    assert all(tensor.equal(before[name]) for name, tensor in state.items())
    assert not any(tensor.equal(before[name]) for name, tensor in student.state().items())
