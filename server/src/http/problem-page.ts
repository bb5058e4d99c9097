import { codeOf, type Reason, type ReasonFacts, reasons } from '../problems/reasons.ts';

const origins: Record<ReasonFacts['origin'], string> = {
  caller: 'The caller.',
  gateway: 'The gateway.',
  ehr: 'The EHR.',
};

/** The HTML page that explains a reason to developers. */
export function problemPage(reason: Reason): string {
  const { status, title, origin, retryable, happened, remedy } = reasons[reason];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${reason} – Crossward</title>
<style>
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 42rem; margin: 3rem auto; padding: 0 1rem; color: #1c2733; }
code { background: #eef2f5; padding: 0.1em 0.3em; border-radius: 3px; }
dt { font-weight: 600; margin-top: 1rem; } dd { margin: 0; }
</style>
</head>
<body>
<main>
<h1>${title}</h1>
<p><code>${reason}</code> · ${status} <code>${codeOf(status)}</code></p>
<dl>
<dt>What happened</dt><dd>${inline(happened)}</dd>
<dt>What to do</dt><dd>${inline(remedy)}</dd>
<dt>Origin of the error</dt><dd>${origins[origin]}</dd>
<dt>Can the same request succeed later?</dt><dd>${retryable ? 'Yes.' : 'No.'}</dd>
</dl>
<p><a href="/docs/">API reference</a></p>
</main>
</body>
</html>
`;
}

/** Escapes HTML and turns backticks into `<code>`. */
function inline(text: string): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return escaped.replace(/`([^`]+)`/g, '<code>$1</code>');
}
