import { table } from '../../console/frame/parts.ts';
import type { SandboxFault } from '../../ehr/connectors.ts';
import { type Html, type HtmlContent, html } from '../../html/html.ts';
import { copyScript } from './copy-script.ts';
import { pageFrame } from './frame.ts';
import type { PageLink } from './links.ts';
import { inline } from './problem-page.ts';

/** What the start page of a demo shows. Its people are synthetic, and other machines cannot reach it. */
export interface DemoStart {
  readonly id: string;
  readonly secret: string;
  /** Commands for a shell. `undefined`: no time is free just now. */
  readonly commands: {
    readonly book: string | undefined;
    readonly bookWithCode: string | undefined;
    readonly readEvents: string;
    readonly bookWithLostAnswer: string | undefined;
  };
  readonly ehrs: readonly DemoEhr[];
  readonly faults: readonly SandboxFault[];
  /** The documents of the project. */
  readonly documents: readonly PageLink[];
  /** Whether the console can be opened without a password. */
  readonly hasConsole: boolean;
}

export interface DemoEhr {
  readonly id: string;
  readonly careUnits: readonly string[];
  /** What the patient confirms with a code. */
  readonly codeFor: readonly ('booking' | 'cancelling')[];
}

/** The page at `/`. Without `demo` it says only what this is. */
export function startPage(links: readonly PageLink[], demo?: DemoStart): string {
  return pageFrame({
    title: 'Start',
    section: '/',
    links,
    content: html`<h1>Crossward</h1>
<p>Crossward is a gateway with one HTTP/JSON interface to many electronic health record systems (EHRs): read patients,
resources and free time slots; book, move and cancel appointments; read and add notes, documents and schedules.</p>
${demo ? introduction(demo) : html`<p>To send requests, you need the id and the secret of a client. The operator of this gateway creates them.</p>`}
${demo && tour(demo)}
<h2>Pages</h2>
${listOf(links)}
${demo && more(demo)}`,
  });
}

function introduction({ hasConsole }: DemoStart): Html {
  return html`<p>This is a demo with sandbox EHRs. All people in them are synthetic.</p>
<div class="actions">
${hasConsole && html`<form method="post" action="/console/sign-in/demo"><button>Open the console as demo</button></form>`}
<a class="button secondary" href="/docs/">Open the API reference</a>
</div>`;
}

function tour({ commands, faults }: DemoStart): Html {
  return html`<h2>A tour in five steps</h2>
<p>Paste the commands into a terminal. They have the credentials of the demo's client, and times that are free now.</p>
<section class="step"><h3>1. Book an appointment</h3>
${command('Book an appointment', commands.book)}
<p>The response is 201, and the status <code>booked</code>. Sent again, it gets
${errorLink('time_slot_unavailable')}.</p></section>
<section class="step"><h3>2. Book one that the patient confirms</h3>
${command('Book with a code', commands.bookWithCode)}
<p>This clinic requires a code. The response is 201, and the status <code>awaiting_confirmation</code>: the time is held.
The patient has got an SMS, which is in the <a href="/demo/messages">mailbox</a>.</p></section>
<section class="step"><h3>3. Be the patient</h3>
<p>Open <code>confirmation.page_url</code> of the response in the browser: it is the page that the patient gets. Enter the
code of the <a href="/demo/messages">SMS</a>. An application can ask for the code itself and send it instead.</p></section>
<section class="step"><h3>4. See the events</h3>
${command('Read the events', commands.readEvents)}
<p>The last ones are those of your appointments. Webhooks send the same.</p></section>
<section class="step"><h3>5. Let it fail</h3>
<p>Some patients of the sandbox are there to break it. For this one, the EHR books and its answer is lost:</p>
${command('Book with a lost answer', commands.bookWithLostAnswer)}
<p>The response is 504 ${errorLink('outcome_unknown')}. Send the same command again: 201, and one appointment, because the
<code>idempotency-key</code> is the same.</p>
${table(
  'Patients on which the sandbox breaks',
  ['patient', 'the EHR', 'response', 'what to do'],
  faults.map(({ patientId, ehr, response, remedy }) => [
    html`<code>${patientId}</code>`,
    inline(ehr),
    inline(response),
    inline(remedy),
  ]),
)}
</section>
${copyScript}`;
}

/** A command with a button that copies it, if the browser runs scripts. */
function command(name: string, text: string | undefined): Html {
  if (text === undefined) return html`<p class="quiet">No free time was found just now. Load the page again.</p>`;
  return html`<pre class="commands" tabindex="0" role="region" aria-label="${name}"><code>${text}</code></pre>`;
}

function errorLink(reason: string): Html {
  return html`<a href="/problems/${reason}"><code>${reason}</code></a>`;
}

function more({ id, secret, ehrs, documents }: DemoStart): HtmlContent {
  return html`${documents.length > 0 && html`<h2>Documents</h2>\n${listOf(documents)}`}
<h2>Credentials</h2>
<p>The client of the demo may do everything. The API reference has its credentials filled in.</p>
<dl>
<dt><code>x-service-client-id</code></dt><dd><code>${id}</code></dd>
<dt><code>x-service-client-secret</code></dt><dd><code>${secret}</code></dd>
</dl>
<h2>EHRs</h2>
<ul>
${ehrs.map(ehrItem)}</ul>
<p><code>npm run demo</code> books, confirms, moves and cancels an appointment, and shows each request and response.</p>`;
}

function listOf(links: readonly PageLink[]): Html {
  return html`<ul>
${links.map(({ title, path, about }) => html`<li><a href="${path}">${title}</a>: ${about}</li>\n`)}</ul>`;
}

function ehrItem({ id, careUnits, codeFor }: DemoEhr): Html {
  const code = codeFor.length === 0 ? 'without a code' : `${codeFor.join(' and ')} with a code`;
  return html`<li><code>${id}</code> with ${careUnits.map((it, index) => html`${index > 0 && ', '}<code>${it}</code>`)}: ${code}</li>
`;
}
