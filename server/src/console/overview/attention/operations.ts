import { html } from '../../../html/html.ts';
import { writeFailureText } from '../../../unfinished-writes/advice.ts';
import type { StuckWrites } from '../../../unfinished-writes/stuck-writes.ts';
import { tryAllForm } from '../../ehrs/ehr-parts.ts';
import { linkTo, type SignedIn } from '../../frame/page.ts';
import { counted } from '../../frame/parts.ts';
import { isBrokenEhr } from './ehrs.ts';
import type { Need } from './need.ts';

/** Suspended operations, and old ones that do not wait for a broken EHR, which is told already. */
export function operationsInNeed(context: SignedIn, stuck: readonly StuckWrites[]): Need[] {
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
