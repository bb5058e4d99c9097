import { afterAll, describe, expect, test } from 'vitest';
import { sandboxSubject } from '../../../connectors/sandbox/test/conformance-subject.ts';
import { createTestDatabase } from '../../../test/database/database.ts';
import { ConnectorError } from '../errors.ts';
import type { Appointment } from '../records.ts';
import { type CompleteConnector, type Defects, outcomeOf, withDefects } from './broken.test-support.ts';
import type { Subject } from './index.ts';
import { passingSubject } from './passing-subject.test-support.ts';

const { database, dispose } = await createTestDatabase();
const keeping = await sandboxSubject('keeping', database.pool);
const passing = await passingSubject({ slotsByPatient: 'optional' });
afterAll(async () => {
  await passing.close?.();
  await dispose();
});

type How = (right: CompleteConnector) => Defects;

/** An EHR that no longer has an appointment once it is cancelled, and rejects to cancel it again as `kind`. */
const forgetting =
  (kind: 'appointment_cancelled' | 'appointment_not_found' | null = 'appointment_cancelled'): How =>
  (right) => ({
    capabilities: { ...right.capabilities, forgetsCancelled: true },
    findAppointments: async (unit, ids) => withoutCancelled(await right.findAppointments(unit, ids)),
    listAppointments: async (query) => withoutCancelled(await right.listAppointments(query)),
    async changeAppointments(write) {
      const ids = write.changes.flatMap((it) => (it.kind === 'create' ? [] : [it.appointmentId]));
      const found = await right.findAppointments(write.careUnit, ids);
      if (kind && found.some(({ state }) => state === 'cancelled')) throw new ConnectorError(kind, 'It is gone');
      return right.changeAppointments(write);
    },
  });

function withoutCancelled(found: readonly Appointment[]): Appointment[] {
  return found.filter(({ state }) => state !== 'cancelled');
}

/** An EHR that finds an appointment by its own id and the identifier of the patient. */
const naming =
  (looks: { readonly ignoresPatient?: 'finding' | 'changing'; readonly claims?: boolean } = {}): How =>
  (right) => {
    const named = (it: Appointment) => ({ ...it, id: `${it.patientId.split(':')[1]}/${it.id}` });
    const inner = (id: string) => id.slice(id.indexOf('/') + 1);
    const { ignoresPatient, claims = true } = looks;
    const find = async (unit: Parameters<typeof right.findAppointments>[0], ids: readonly string[]) =>
      (await right.findAppointments(unit, ids.map(inner))).map(named);
    return {
      capabilities: { ...right.capabilities, appointmentIdsNamePatients: claims },
      async findAppointments(unit, ids) {
        const found = await find(unit, ids);
        if (ignoresPatient !== 'finding') return found.filter(({ id }) => ids.includes(id));
        return found.map((it) => ({ ...it, id: ids.find((id) => inner(id) === inner(it.id)) ?? it.id }));
      },
      listAppointments: async (query) => (await right.listAppointments(query)).map(named),
      async changeAppointments(write) {
        const changes = [];
        for (const change of write.changes) {
          const known = change.kind === 'create' || (await find(write.careUnit, [change.appointmentId]));
          if (change.kind === 'create' || known === true) changes.push(change);
          else if (ignoresPatient === 'changing' || known.some(({ id }) => id === change.appointmentId)) {
            changes.push({ ...change, appointmentId: inner(change.appointmentId) });
          } else throw new ConnectorError('appointment_not_found', 'The patient has no such appointment');
        }
        return (await right.changeAppointments({ ...write, changes })).map(named);
      },
    };
  };

const claiming =
  (claims: object): How =>
  ({ capabilities }) => ({ capabilities: { ...capabilities, ...claims } });

const gone = 'rejects to cancel an appointment that is gone because it is cancelled';
const frees = 'cancels an appointment and frees its time';
const named = 'ids of appointments contain the identifier of the patient only if that is claimed';
const forged = 'finds and changes nothing by an id that names another patient';

test.each<[string, string, Subject]>([
  ['cancel', gone, withDefects(keeping, forgetting())],
  ['cancel', frees, withDefects(keeping, forgetting())],
  ['appointments-read', named, passing],
  ['appointments-read', named, withDefects(passing, naming())],
  ['appointments-read', forged, withDefects(passing, naming())],
])('an EHR as it claims to be passes: %s, %s', async (capability, check, subject) => {
  expect(await outcomeOf(subject, capability, check)).toMatchObject({ outcome: 'passed' });
});

describe('the kit catches a connector that', () => {
  test.each<[string, string, string, Subject]>([
    [
      'keeps cancelled appointments, and says that it forgets them',
      'cancel',
      gone,
      withDefects(keeping, (right) => ({ ...forgetting()(right), findAppointments: right.findAppointments })),
    ],
    [
      'forgets cancelled appointments without saying so',
      'cancel',
      frees,
      withDefects(keeping, (right) => ({ ...forgetting()(right), capabilities: right.capabilities })),
    ],
    ['forgets them, and cancels one again', 'cancel', gone, withDefects(keeping, forgetting(null))],
    [
      'forgets them, and does not know one that it has cancelled',
      'cancel',
      gone,
      withDefects(keeping, forgetting('appointment_not_found')),
    ],
    [
      'names patients in ids without saying so',
      'appointments-read',
      named,
      withDefects(passing, naming({ claims: false })),
    ],
    [
      'says that ids name patients, and they do not',
      'appointments-read',
      named,
      withDefects(passing, claiming({ appointmentIdsNamePatients: true })),
    ],
    [
      'finds an appointment whichever patient its id names',
      'appointments-read',
      forged,
      withDefects(passing, naming({ ignoresPatient: 'finding' })),
    ],
    [
      'cancels an appointment whichever patient its id names',
      'appointments-read',
      forged,
      withDefects(passing, naming({ ignoresPatient: 'changing' })),
    ],
  ])('%s', async (_, capability, check, subject) => {
    const broken = await outcomeOf(subject, capability, check);
    expect(broken).toMatchObject({ outcome: 'failed', reason: expect.not.stringMatching(/^The connector threw/) });
  });
});
