import type { ProbeFinding } from '@crossward/connector-kit';
import { horizonDays } from '../schedules/grow.ts';
import { lackedForSchedules } from '../schedules/operations.ts';
import type { ServerFacts } from '../server/capability-statement.ts';
import type { FhirConnection } from '../server/connection.ts';
import type { BookingMode } from '../settings.ts';

const name = 'schedules';

/**
 * Reports whether schedules can be written, as the settings say. Recommends to turn writing off where it is not possible,
 * and never to turn it on: it changes a clinic's calendar. Writes nothing.
 */
export function probeSchedules(
  ehr: FhirConnection,
  mode: BookingMode,
  facts: ServerFacts,
  recommended: Record<string, unknown>,
): ProbeFinding {
  const { schedules, booking } = ehr.settings;
  const lacked = lackedForSchedules(ehr, mode, facts);
  if (lacked.length === 0) {
    const size = booking?.transaction_size;
    const limit = size === undefined ? '' : ` An end or an exception can remove up to ${size - 1} slots at once.`;
    const detail =
      schedules?.write === true
        ? `Schedules are read and written, with Slots for ${horizonDays(ehr)} days ahead.${limit}`
        : `Schedules are read. The server would also take new ones: schedules.write lets the gateway change them.`;
    return { name, status: schedules?.write === true ? 'ok' : 'note', detail };
  }
  const why = `the server lacks ${lacked.join(', ')}`;
  if (schedules?.write !== true) {
    return { name, status: 'note', detail: `Schedules are read. They cannot be written: ${why}.` };
  }
  recommended.schedules = { write: false };
  return { name, status: 'problem', detail: `schedules.write is set, but schedules cannot be written: ${why}.` };
}
