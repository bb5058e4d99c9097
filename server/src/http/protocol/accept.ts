/**
 * Whether the caller names HTML in its `Accept` header and does not prefer JSON, as browsers do: RFC 9110 section 12.5.1.
 */
export function asksForHtml(accept: string | undefined): boolean {
  const html = weightOf('text/html', accept);
  return html > 0 && html >= weightOf('application/json', accept);
}

/** Whether the caller names JSON and does not prefer HTML. */
export function asksForJson(accept: string | undefined): boolean {
  const json = weightOf('application/json', accept);
  return json > 0 && json >= weightOf('text/html', accept);
}

function weightOf(wanted: string, accept = ''): number {
  const weights = accept.split(',').map((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith('q='));
    return type === wanted ? (weight === undefined ? 1 : Number(weight.slice(2)) || 0) : 0;
  });
  return Math.max(...weights);
}
