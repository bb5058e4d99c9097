import fc from 'fast-check';
import { afterAll, describe, inject, test, vi } from 'vitest';
import type { Configuration } from '../../server/src/config/configuration.ts';
import type { Policies } from '../../server/src/config/schema/policies.ts';
import { faultyEhrs } from '../ehrs/faulty-ehr.ts';
import { wrapConnector } from '../ehrs/other-ehrs.ts';
import { withQuickRecovery } from '../gateway/recovery.ts';
import { startGateways } from '../gateway/several-gateways.ts';
import { bulkCancellations } from './commands/bulk-cancel.ts';
import { bulkConfirmations } from './commands/bulk-confirm.ts';
import { bulkUpdates } from './commands/bulk-update.ts';
import { cancellations } from './commands/cancel.ts';
import { confirmations, lookups } from './commands/confirm.ts';
import { creations } from './commands/create.ts';
import { expiries } from './commands/expire.ts';
import { lists } from './commands/read.ts';
import { reschedules } from './commands/reschedule.ts';
import { resends } from './commands/resend.ts';
import { staffChanges } from './commands/staff.ts';
import { updates } from './commands/update.ts';
import { type Model, newModel } from './model.ts';
import { deleteAll, findDay, type Place, Real } from './real.ts';

const attempts = 2;
const first = { first: 'r-1', second: 'r-2', room: 'r-5' };
const last = { first: 'r-6', second: 'r-7', room: 'r-10' };

const cases: readonly { name: string; place: Place; bookingCode: boolean; cancellationCode: boolean }[] = [
  {
    name: 'without codes',
    place: { emr: 'sandbox-no', careUnitId: 'oslo-sentrum', resources: first },
    bookingCode: false,
    cancellationCode: false,
  },
  {
    name: 'with booking codes',
    place: { emr: 'sandbox-se', careUnitId: 'sodermalm', resources: first },
    bookingCode: true,
    cancellationCode: false,
  },
  {
    name: 'with cancellation codes',
    place: { emr: 'sandbox-uk', careUnitId: 'riverside', resources: first },
    bookingCode: false,
    cancellationCode: true,
  },
  {
    name: 'with both codes',
    place: { emr: 'sandbox-uk', careUnitId: 'hillview', resources: last },
    bookingCode: true,
    cancellationCode: true,
  },
];

/** Fewer attempts than usual, so that sequences reach the limit. `hillview` requires codes for everything. */
function configure(configuration: Configuration): Configuration {
  const policiesOf = (careUnitId: string, policies: Policies): Policies => ({
    ...policies,
    ...(careUnitId === 'hillview' ? { booking_confirmation: 'code' } : {}),
    code: { ...policies.code, attempts },
    limits_per_patient: { pending: 1_000_000, codes_per_hour: 1_000_000 },
  });
  return {
    ...configuration,
    emrs: configuration.emrs.map((emr) => ({
      ...emr,
      care_units: emr.care_units.map((it) => ({ ...it, policies: policiesOf(it.id, it.policies) })),
    })),
  };
}

const weighted = (weight: number, arbitrary: fc.Arbitrary<fc.AsyncCommand<Model, Real>>) =>
  Array.from({ length: weight }, () => arbitrary);

const commands = [
  ...weighted(6, creations),
  ...weighted(3, updates),
  ...weighted(3, cancellations),
  ...weighted(4, confirmations),
  ...weighted(2, lookups),
  ...weighted(2, bulkConfirmations),
  ...weighted(2, bulkCancellations),
  ...weighted(2, bulkUpdates),
  ...weighted(3, reschedules),
  ...weighted(3, resends),
  ...weighted(2, expiries),
  ...weighted(1, staffChanges),
  ...weighted(1, lists),
];

const onPostgres = inject('databaseKind') === 'postgresql';
/**
 * Set by `npm run test:model`. Default: a few fixed sequences, fewer on the embedded database, which takes longer for each and
 * has one connection, so that no two requests meet in it.
 */
const { MODEL_RUNS, MODEL_SEED = '1', MODEL_PATH, MODEL_REPLAY_PATH } = process.env;
const numRuns = Number(MODEL_RUNS ?? (onPostgres ? 6 : 2));
const timeout = MODEL_RUNS === undefined ? 600_000 : 0;

// The demo mailbox would print hundreds of codes to the terminal.
const output = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
const ehrs = faultyEhrs();
// A promise must not depend on which gateway keeps it. The embedded database has one.
const gateways = onPostgres ? 3 : 1;
const gateway = await startGateways(gateways, {
  configure: (demo) => withQuickRecovery(configure(demo)),
  connectors: [wrapConnector(ehrs.faulty)],
  logLevel: 'warn',
});
afterAll(async () => {
  await gateway.close();
  output.mockRestore();
});

describe('random sequences of requests match the model of the contract', () => {
  test.each(cases)('$name', { timeout }, async ({ name, place, ...policy }) => {
    const day = await findDay(gateway, place);
    const property = fc.asyncProperty(
      fc.commands(commands, {
        maxCommands: 40,
        size: 'max',
        ...(MODEL_REPLAY_PATH === undefined ? {} : { replayPath: MODEL_REPLAY_PATH }),
      }),
      async (sequence) => {
        await deleteAll(gateway);
        const start = () => ({
          model: newModel({ ...policy, attempts }),
          real: new Real({ gateway, place, day, ehr: ehrs.of(place.emr) }),
        });
        await fc.asyncModelRun(start, sequence);
      },
    );
    const result = await fc.check(property, {
      numRuns,
      seed: Number(MODEL_SEED),
      ...(MODEL_PATH === undefined ? {} : { path: MODEL_PATH }),
    });
    if (result.failed) throw new Error(report(name, result), { cause: result.errorInstance });
  });
});

type Failure = Pick<fc.RunDetails<[unknown]>, 'seed' | 'counterexamplePath' | 'counterexample' | 'errorInstance'>;

/** The shortest failing sequence, and the command to repeat it. */
function report(name: string, { seed, counterexamplePath, counterexample, errorInstance }: Failure): string {
  const [, replayPath] = /replayPath="([^"]*)"/.exec(String(counterexample?.[0])) ?? [];
  const message = errorInstance instanceof Error ? errorInstance.message : String(errorInstance);
  const command = `npm run test:model -- --case '${name}' --seed ${seed} --path ${counterexamplePath} --replay-path ${replayPath}`;
  return `${message}\n\nTo repeat it:\n  ${command}`;
}
