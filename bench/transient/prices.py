"""The price file of servers that are processes of this machine."""


def prices(*offers):
    """Each offer: zones, class, price in USD an hour, with a GPU or not, notice or none."""
    text = 'date = "2026-01-01"\n'
    for zones, kind, usd_per_hour, has_gpu, notice in offers:
        text += "[[offer]]\nzones = [" + ", ".join(f'"{zone}"' for zone in zones) + "]\n"
        text += 'gpu = "CPU"\ngpus = 1\n' if has_gpu else ""
        text += f'class = "{kind}"\nusd_per_hour = {usd_per_hour}\n'
        text += f'notice = "{notice}"\n' if notice else ""
    return text
