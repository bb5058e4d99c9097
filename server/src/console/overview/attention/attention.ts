import { type Html, html } from '../../../html/html.ts';
import { groupStuckWrites } from '../../../unfinished-writes/stuck-writes.ts';
import type { SignedIn } from '../../frame/page.ts';
import { certificatesInNeed, ehrsInNeed } from './ehrs.ts';
import { gatewayInNeed } from './gateway.ts';
import { type Need, sentenceOf } from './need.ts';
import { operationsInNeed } from './operations.ts';
import { endpointsInNeed, messagesInNeed } from './outgoing.ts';

/** What an operator should look at, broken EHRs first. */
export async function listNeeds(context: SignedIn): Promise<Need[]> {
  const stuck = await groupStuckWrites(context.deps.services);
  return [
    ...(await ehrsInNeed(context, stuck)),
    ...operationsInNeed(context, stuck),
    ...(await messagesInNeed(context)),
    ...(await endpointsInNeed(context)),
    ...certificatesInNeed(context),
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
        (need) =>
          html`<li><div><h3>${need.subject}</h3><p>${sentenceOf(need)}</p></div><div class="actions">${need.mend}</div></li>\n`,
      )}</ul>`
}</section>`;
}
