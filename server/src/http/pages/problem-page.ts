import { type HtmlContent, html } from '../../html/html.ts';
import { codeOf, type Reason, type ReasonFacts, reasons } from '../../problems/reasons.ts';
import { pageFrame } from './frame.ts';

const origins: Record<ReasonFacts['origin'], string> = {
  caller: 'The caller.',
  gateway: 'The gateway.',
  ehr: 'The EHR.',
};

/** The HTML page that explains a reason to developers. */
export function problemPage(reason: Reason): string {
  const { status, title, origin, retryable, happened, remedy } = reasons[reason];
  return pageFrame(
    reason,
    html`<h1>${title}</h1>
<p><code>${reason}</code> · ${status} <code>${codeOf(status)}</code></p>
<dl>
<dt>What happened</dt><dd>${inline(happened)}</dd>
<dt>What to do</dt><dd>${inline(remedy)}</dd>
<dt>Origin of the error</dt><dd>${origins[origin]}</dd>
<dt>Can the same request succeed later?</dt><dd>${retryable ? 'Yes.' : 'No.'}</dd>
</dl>
<p><a href="/docs/">API reference</a></p>`,
  );
}

/** Turns backticks into `<code>`. */
function inline(text: string): HtmlContent {
  return text.split('`').map((part, index) => (index % 2 === 0 ? part : html`<code>${part}</code>`));
}
