"""When two JSON values are the same value (RS-328)."""

from tenure_model.vocabulary.absent import ABSENT


def json_equal(left: object, right: object) -> bool:
    """Whether two admitted JSON values, or ``ABSENT``, are equal (RS-328).

    Numbers compare by value (1 equals 1.0, 0 equals -0.0) and never equal a boolean; the order of an array counts, the
    order of an object's members does not; ``ABSENT`` equals only ``ABSENT``. Values that are not JSON equal nothing.
    The values must be free of cycles, as ``admit_json_value`` leaves them.
    """
    pending: list[tuple[object, object]] = [(left, right)]
    while pending:
        one, other = pending.pop()
        if type(one) is list and type(other) is list:
            if len(one) != len(other):
                return False
            pending.extend(zip(one, other, strict=True))
        elif type(one) is dict and type(other) is dict:
            if len(one) != len(other):
                return False
            for key, member in one.items():
                if type(key) is not str or key not in other:
                    return False
                pending.append((member, other[key]))
        elif not _scalars_equal(one, other):
            return False
    return True


def _scalars_equal(one: object, other: object) -> bool:
    if one is ABSENT or one is None or type(one) is bool:
        return one is other
    if type(one) is int or type(one) is float:
        return (type(other) is int or type(other) is float) and one == other
    return type(one) is str and type(other) is str and one == other
