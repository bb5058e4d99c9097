import type { DeliveredMessage } from '../messages/providers/demo-mailbox.ts';

export const style = `
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 42rem; margin: 3rem auto; padding: 0 1rem; color: #1c2733; }
article { border: 1px solid #d5dde3; border-radius: 6px; padding: 0.75rem 1rem; margin: 1rem 0; }
h2 { font-size: 1rem; margin: 0; }
p { margin: 0.5rem 0 0; white-space: pre-line; overflow-wrap: anywhere; }
small { color: #51606c; }
`;

/** The page that shows the messages patients would have received. */
export function demoMailboxPage(messages: readonly DeliveredMessage[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Demo mailbox – Crossward</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>Demo mailbox</h1>
<p>SMS and e-mail of the last day, newest first. Nothing here has left this machine.</p>
${messages.length === 0 ? '<p>No messages yet.</p>' : messages.map(article).join('\n')}
</main>
</body>
</html>
`;
}

function article({ channel, to, subject, text, appointmentId, sentAt }: DeliveredMessage): string {
  const time = sentAt.toISOString();
  const heading = `${channel === 'sms' ? 'SMS' : 'E-mail'} to ${escapeHtml(to)}`;
  return `<article>
<h2>${heading}</h2>
<small><time datetime="${time}">${time}</time> · appointment ${escapeHtml(appointmentId)}</small>
${subject === undefined ? '' : `<p><strong>${escapeHtml(subject)}</strong></p>\n`}<p>${escapeHtml(text.trimEnd())}</p>
</article>`;
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
