import { type Html, html } from '../../html/html.ts';

const height = 100;
const step = 10;

/** A part of a column, from the zero line or from the top of another part. Shares of the axis. */
interface Part {
  /** The class that gives it its colour. */
  readonly kind: string;
  readonly from?: number;
  readonly share: number;
}

interface PlottedColumn {
  /** The time and the figures, shown under the pointer. */
  readonly text: string;
  /** Nothing is known about the time: drawn as a gap, not as zero. */
  readonly isGap: boolean;
  readonly parts: readonly Part[];
}

export interface Plot {
  /** Unique on the page. */
  readonly id: string;
  readonly name: string;
  /** The figure for the whole time, such as `12` or `99 % available`. */
  readonly total: string;
  /** What the plot shows, in words, for people who do not see it. */
  readonly description: string;
  /** The end of the axis, which begins at 0, with its unit. */
  readonly end: string;
  readonly columns: readonly PlottedColumn[];
  /** Labels of the time, each at the first column of its part of the plot. */
  readonly times: readonly string[];
  /** Classes of colours and what they stand for. */
  readonly legend?: readonly (readonly [kind: string, name: string])[];
}

/** A plot of columns over time, as an image with words for screen readers. The last column is not over yet. */
export function plot({ id, name, total, description, end, columns, times, legend = [] }: Plot): Html {
  const width = columns.length * step;
  return html`<figure class="plot">
<figcaption><span>${name}</span> <strong>${total}</strong></figcaption>
${legend.length > 0 && html`<p class="keys">${legend.map(([kind, text]) => html`<span><span class="key ${kind}"></span> ${text}</span> `)}</p>`}
<p class="y" aria-hidden="true"><span>${end}</span><span>0</span></p>
<svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-labelledby="${id}-name" aria-describedby="${id}-text">
<title id="${id}-name">${name}: ${total}</title><desc id="${id}-text">${description}</desc>
<path class="grid" d="M0 0H${width}M0 ${height / 2}H${width}"/>
${columns.map((column, index) => drawn(column, index, index === columns.length - 1))}<path class="zero" d="M0 ${height}H${width}"/></svg>
<p class="x" aria-hidden="true">${times.map((text) => html`<span>${text}</span>`)}</p>
</figure>
`;
}

function drawn({ text, isGap, parts }: PlottedColumn, index: number, isLast: boolean): Html {
  const x = index * step;
  const bars = parts.filter(({ share }) => share > 0).map((part) => bar(part, x, isLast));
  const gap = isGap && html`<rect class="gap" x="${x}" y="0" width="${step}" height="${height}"/>`;
  return html`<g>${gap}${bars}<rect class="hit" x="${x}" y="0" width="${step}" height="${height}"><title>${text}</title></rect></g>
`;
}

/** What is not zero is at least visible. */
function bar({ kind, from = 0, share }: Part, x: number, isLast: boolean): Html {
  const length = Math.max(2, rounded(share * height));
  const y = rounded(height - from * height - length);
  return html`<rect class="${kind}${isLast && ' unfinished'}" x="${x + 1}" y="${y}" width="${step - 2}" height="${length}"/>`;
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
