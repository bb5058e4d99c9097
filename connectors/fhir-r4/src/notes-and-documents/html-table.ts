import type { DomNode, FormatCallback } from 'html-to-text';

interface Cell {
  readonly colspan: number;
  readonly rowspan: number;
  readonly text: string;
}
type Table = readonly (readonly Cell[])[];

/** Wider and longer spans than notes need would only fill memory. */
const mostSpanned = 20;
/** Columns to the right of these ignore the cells that reach down from rows above. */
const mostColumns = 100;

/**
 * Formats a table: a line for each row, and a tab between cells, as in RTF. A row with a cell of several lines has its
 * cells one below the other. The text is about as long as the HTML, unlike a layout in columns of equal width, which can
 * be many times as long. Captions, and text outside of rows and cells, are rows of their own.
 */
export const formatTable: FormatCallback = (table, walk, builder) => {
  builder.openTable();
  for (const part of table.children) {
    const isSection = ['thead', 'tbody', 'tfoot'].includes(part.name ?? '');
    for (const child of isSection ? part.children : [part]) addRow(child);
  }
  builder.closeTable({ tableToString: (rows: Table) => tableText(rows) });

  function addRow(node: DomNode): void {
    if (isBlank(node)) return;
    builder.openTableRow();
    for (const cell of node.name === 'tr' ? node.children : [node]) {
      if (!isBlank(cell)) addCell(cell);
    }
    builder.closeTableRow();
  }
  function addCell(cell: DomNode): void {
    builder.openTableCell();
    walk(cell.name === 'td' || cell.name === 'th' ? cell.children : [cell], builder);
    builder.closeTableCell({ colspan: span(cell.attribs?.colspan), rowspan: span(cell.attribs?.rowspan) });
  }
};

function isBlank({ type, data = '' }: DomNode): boolean {
  return type === 'text' ? data.trim() === '' : type !== 'tag';
}

function span(text: string | undefined): number {
  const number = Number.parseInt(text ?? '', 10);
  return number >= 1 ? Math.min(number, mostSpanned) : 1;
}

function tableText(rows: Table): string {
  /** By column, the first row that no cell from above reaches. */
  const freeFrom: number[] = [];
  const lines = rows.map((cells, row) => {
    const fields: string[] = [];
    for (const { text, colspan, rowspan } of cells) {
      while ((freeFrom[fields.length] ?? 0) > row) fields.push('');
      for (let column = fields.length; column < Math.min(fields.length + colspan, mostColumns); column++) {
        freeFrom[column] = row + rowspan;
      }
      fields.push(text, ...Array<string>(colspan - 1).fill(''));
    }
    return fields.some((it) => it.includes('\n'))
      ? fields.filter((it) => it !== '').join('\n')
      : fields.join('\t').trimEnd();
  });
  return lines.join('\n');
}
