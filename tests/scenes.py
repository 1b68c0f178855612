"""What a chart's scene has in it."""

from dbbench.report.charts.measure import width
from dbbench.report.charts.scene import Box, Dot, Scene, Stroke, Text


def marks(scene: Scene) -> list[Text]:
    return [mark for mark in scene.marks if isinstance(mark, Text)]


def texts(scene: Scene) -> list[str]:
    return [mark.text for mark in marks(scene)]


def boxes(scene: Scene) -> list[Box]:
    return [mark for mark in scene.marks if isinstance(mark, Box)]


def dots(scene: Scene) -> list[Dot]:
    return [mark for mark in scene.marks if isinstance(mark, Dot)]


def intervals(scene: Scene) -> int:
    """How many intervals it has: a line with a stop at each end."""
    return sum(isinstance(mark, Stroke) and len(mark.lines) == 3 for mark in scene.marks)


def covered(scene: Scene) -> list[str]:
    """The texts that leave the picture, or that another covers."""
    shares = {"start": 0.0, "middle": 0.5, "end": 1.0}
    places = []
    for mark in marks(scene):
        across = width(mark.text, mark.size, bold=mark.bold)
        left = mark.x - shares[mark.anchor] * across
        places.append((mark.text, left, left + across, mark.y - 0.76 * mark.size, mark.y + 0.24 * mark.size))
    found = [
        text
        for text, left, right, top, bottom in places
        if left < 0 or right > scene.width + 1 or top < 0 or bottom > scene.height
    ]
    for index, (text, *one) in enumerate(places):
        for other, *another in places[index + 1 :]:
            across = min(one[1], another[1]) - max(one[0], another[0])
            down = min(one[3], another[3]) - max(one[2], another[2])
            if across > 1 and down > 2:
                found.append(f"{text} / {other}")
    return found
