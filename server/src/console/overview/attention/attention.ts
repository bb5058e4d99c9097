import { type Html, html } from '../../../html/html.ts';
import { writeFailureText } from '../../../unfinished-writes/advice.ts';
import { groupStuckWrites, type StuckWrites } from '../../../unfinished-writes/stuck-writes.ts';
import { tryAllForm } from '../../ehrs/ehr-parts.ts';
import { linkTo, type SignedIn } from '../../frame/page.ts';
import { counted } from '../../frame/parts.ts';
import { certificatesInNeed, changedEhrsInNeed, ehrsInNeed, isBrokenEhr, triesInNeed } from './ehrs.ts';
import { gatewayInNeed } from './gateway.ts';
import { type Need, sentenceOf } from './need.ts';
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
    ...(await changedEhrsInNeed(context)),
    ...(await triesInNeed(context)),
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

/** Suspended operations, and old ones that do not wait for a broken EHR, which is told already. */
function operationsInNeed(context: SignedIn, stuck: readonly StuckWrites[]): Need[] {
  const { services } = context.deps;
  return stuck
    .filter(({ emr, isSuspended }) => isSuspended || !isBrokenEhr(context, services.ehrs.get(emr)))
    .sort((a, b) => Number(b.isSuspended) - Number(a.isSuspended) || a.since.getTime() - b.since.getTime())
    .map((group) => ({
      subject: services.ehrs.get(group.emr)?.name ?? group.emr,
      what: whatHappened(group),
      since: group.since,
      patients: group.patients.size,
      mend: [
        tryAllForm(context, group),
        html`<a href="${linkTo(context, 'operations')}">Operations<span class="aside"> of ${group.emr}</span></a>`,
      ],
    }));
}

function whatHappened({ count, isSuspended, lastFailure }: StuckWrites): string {
  const cause = lastFailure === null ? '' : `: ${writeFailureText(lastFailure)}`;
  return isSuspended
    ? `${counted(count, 'operation is', 'operations are')} suspended and ${count === 1 ? 'waits' : 'wait'} for you${cause}`
    : `${counted(count, 'operation has', 'operations have')} not ended${cause}`;
}
