import { type Html, type HtmlContent, html } from '../../html/html.ts';
import { groupStuckOperations } from '../../unfinished-operations/stuck-operations.ts';
import type { SignedIn } from '../page.ts';
import { counted, duration, time } from '../parts.ts';
import { ehrsInNeed } from './ehrs.ts';
import { gatewayInNeed } from './gateway.ts';
import { messagesInNeed } from './messages.ts';
import type { Need } from './need.ts';
import { operationsInNeed } from './operations.ts';
import { endpointsInNeed } from './webhooks.ts';

/** What an operator should look at, broken EHRs first. */
export async function listNeeds(context: SignedIn): Promise<Need[]> {
  const stuck = await groupStuckOperations(context.deps.services);
  return [
    ...(await ehrsInNeed(context, stuck)),
    ...operationsInNeed(context, stuck),
    ...(await messagesInNeed(context)),
    ...(await endpointsInNeed(context)),
    ...(await gatewayInNeed(context)),
  ];
}

/** The list of what needs attention. */
export function needsList(needs: readonly Need[]): Html {
  return html`<section class="needs" aria-labelledby="needs"><h2 id="needs">Needs attention</h2>
${
  needs.length === 0
    ? html`<p class="well">Nothing needs attention.</p>`
    : html`<ul>${needs.map(
        ({ subject, what, mend, ...about }) =>
          html`<li><div><h3>${subject}</h3><p>${what}${circumstances(about)}.</p></div><div class="actions">${mend}</div></li>\n`,
      )}</ul>`
}</section>`;
}

function circumstances({ patients = 0, since }: Pick<Need, 'patients' | 'since'>): HtmlContent {
  return [
    since && html`, since ${time(since)} (${duration((Date.now() - since.getTime()) / 1000)})`,
    patients > 0 && `; it concerns ${counted(patients, 'patient')}`,
  ];
}
