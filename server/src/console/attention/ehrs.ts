import type { EhrConnection } from '../../ehr/connection.ts';
import type { EhrFigures } from '../../ehr/figures.ts';
import { unavailableSince } from '../../events/availability-events.ts';
import { html } from '../../html/html.ts';
import type { StuckOperations } from '../../unfinished-operations/stuck-operations.ts';
import { checkForm, ehrLink } from '../ehr-parts.ts';
import type { SignedIn } from '../page.ts';
import { counted } from '../parts.ts';
import type { Need } from './need.ts';

const obstacles: Readonly<Record<Exclude<EhrFigures['state'], 'closed'>, string>> = {
  half_open: 'The EHR was not available, and the gateway is trying again',
  open: 'The EHR is not available, and calls are not made until it is tried again',
  not_connected: 'The connection could not be opened since the start, and the gateway keeps trying',
};

/** EHRs that this process cannot reach, with the operations that wait for them. */
export async function ehrsInNeed(context: SignedIn, stuck: readonly StuckOperations[]): Promise<Need[]> {
  const { services, readFigures } = context.deps;
  const broken = [...services.ehrs.values()].filter((ehr) => isBroken(readFigures(ehr)));
  return Promise.all(
    broken.map(async (ehr) => {
      const figures = readFigures(ehr);
      const waiting = stuck.filter(({ emr, isSuspended }) => emr === ehr.id && !isSuspended);
      const operations = waiting.reduce((sum, { count }) => sum + count, 0);
      return {
        subject: ehr.name,
        what: html`${figures.state !== 'closed' && obstacles[figures.state]}${operations > 0 && `; ${counted(operations, 'operation waits', 'operations wait')} for it`}`,
        since: await unavailableSince(services.db, ehr.id),
        patients: waiting.reduce((sum, { patients }) => sum + patients, 0),
        mend: [checkForm(context, ehr), ehrLink(context, ehr)],
      };
    }),
  );
}

export function isBroken({ state }: EhrFigures): boolean {
  return state !== 'closed';
}

/** Whether operations of an EHR wait for the EHR itself. */
export function isBrokenEhr({ deps }: SignedIn, ehr: EhrConnection | undefined): boolean {
  return ehr !== undefined && isBroken(deps.readFigures(ehr));
}
