import type { ConsoleSettings } from '../../config/console-settings.ts';
import { type Html, html } from '../../html/html.ts';
import { pageFrame } from './frame.ts';
import type { PageLink } from './links.ts';

/** What the start page of a demo shows. Its people are synthetic, and other machines cannot reach it. */
export interface DemoStart {
  readonly id: string;
  readonly secret: string;
  /** A command that books a free time. */
  readonly command: string | undefined;
  readonly ehrs: readonly DemoEhr[];
  /** Signs in to the console. */
  readonly operator: ConsoleSettings['demoOperator'];
}

export interface DemoEhr {
  readonly id: string;
  readonly careUnits: readonly string[];
  /** What the patient confirms with a code. */
  readonly codeFor: readonly ('booking' | 'cancelling')[];
}

/** The page at `/`. Without `demo` it says only what this is. */
export function startPage(links: readonly PageLink[], demo?: DemoStart): string {
  return pageFrame(
    'Start',
    html`<h1>Crossward</h1>
<p>Crossward is a gateway with one HTTP/JSON interface to many electronic health record systems (EHRs): read patients,
resources and free time slots; book, move and cancel appointments; read and add notes, documents and schedules.</p>
${demo ? demoIntroduction : html`<p>To send requests, you need the id and the secret of a client. The operator of this gateway creates them.</p>`}
<h2>Pages</h2>
<ul>
${links.map(({ title, path, about }) => html`<li><a href="${path}">${title}</a>: ${about}</li>\n`)}</ul>
${demo && demoSections(demo)}`,
  );
}

const demoIntroduction = html`<p>This is a demo with sandbox EHRs. All people in them are synthetic.</p>`;

function demoSections({ id, secret, command, ehrs, operator }: DemoStart): Html {
  return html`${command !== undefined && booking(command)}
<h2>Credentials</h2>
<p>The client of the demo may do everything. The API reference has its credentials filled in.</p>
<dl>
<dt><code>x-service-client-id</code></dt><dd><code>${id}</code></dd>
<dt><code>x-service-client-secret</code></dt><dd><code>${secret}</code></dd>
</dl>
${operator && consoleCredentials(operator)}
<h2>EHRs</h2>
<ul>
${ehrs.map(ehrItem)}</ul>
<p><code>npm run demo</code> books, confirms, moves and cancels an appointment, and shows each request and response.</p>`;
}

function consoleCredentials({ name, password }: NonNullable<DemoStart['operator']>): Html {
  return html`<p>The operator of the demo signs in to the console:</p>
<dl>
<dt>Name</dt><dd><code>${name}</code></dd>
<dt>Password</dt><dd><code>${password.reveal()}</code></dd>
</dl>`;
}

function booking(command: string): Html {
  return html`<h2>Book an appointment</h2>
<p>Paste this into a terminal. The time is free now.</p>
<pre><code>${command}</code></pre>
<p class="quiet">Sent again, it gets <a href="/problems/time_slot_unavailable"><code>time_slot_unavailable</code></a>.</p>`;
}

function ehrItem({ id, careUnits, codeFor }: DemoEhr): Html {
  const code = codeFor.length === 0 ? 'without a code' : `${codeFor.join(' and ')} with a code`;
  return html`<li><code>${id}</code> with ${careUnits.map((it, index) => html`${index > 0 && ', '}<code>${it}</code>`)}: ${code}</li>
`;
}
