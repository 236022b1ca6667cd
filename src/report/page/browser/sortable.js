// Makes the columns of a table sortable. `keys` has for each column { of(row number), more }: a
// number or a text, null where there is none, which stays last; `more` means that more is better.
// The first click puts the best above, the second turns it round, the third is the first order.
function sortable(table, keys) {
  const heads = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  const rows = [...body.rows];
  let column = null;
  let turned = false;
  const order = () => {
    const { of, more } = keys[column];
    const sign = Boolean(more) === turned ? 1 : -1;
    const numbers = rows.map((_, i) => i);
    return numbers.sort((a, b) => {
      const [x, y] = [of(a), of(b)];
      if (x === null || y === null) return (x === null) - (y === null) || a - b;
      return (x < y ? -1 : x > y ? 1 : 0) * sign || a - b;
    });
  };
  const press = (i) => {
    if (column !== i) { column = i; turned = false; } else if (!turned) turned = true; else column = null;
    body.append(...(column === null ? rows : order().map((k) => rows[k])));
    const rising = column !== null && Boolean(keys[column].more) === turned;
    heads.forEach((head, k) => head.setAttribute('aria-sort', k !== column ? 'none' : rising ? 'ascending' : 'descending'));
  };
  heads.forEach((head, i) => {
    if (!keys[i]) return;
    head.setAttribute('aria-sort', 'none');
    head.replaceChildren(h('button', { type: 'button', class: 'sort', onclick: () => press(i) }, ...head.childNodes));
  });
  return table;
}
