import { type Connector, ConnectorError } from '@crossward/connector-kit';
import { sandboxConnector } from '@crossward/connector-sandbox';
import './drafts-ehr.ts';

/*
 * A preload that makes the sandboxes, with that of drafts-ehr.ts, fail at
 * random: they lose the response of a write and become unavailable for a while, or make the write after the time-out.
 */

const probability = 0.04;
const maxDowntimeMs = 4_000;
/** Shorter than the time that the gateway gives an EHR to finish a write. */
const maxDelayMs = 8_000;

const { open } = sandboxConnector;
Object.assign(sandboxConnector, {
  open: async (context: Parameters<typeof open>[0]) => faulty(await open(context)),
});

function faulty(connector: Connector): Connector {
  const { changeAppointments, createMedicalNote } = connector;
  if (!changeAppointments || !createMedicalNote) throw new Error('The sandbox supports no changes');
  let backAt = 0;
  const failing =
    <Input, Result>(perform: (write: Input) => Promise<Result>) =>
    async (write: Input) => {
      const [losesResponse, isLate] = [Math.random() < probability, Math.random() < probability];
      if (isLate) {
        // A write that lost a race is rejected, which is fine here.
        setTimeout(() => void perform(write).catch(() => undefined), Math.random() * maxDelayMs);
      } else if (!losesResponse || Math.random() < 0.7) {
        const result = await perform(write);
        if (!losesResponse) return result;
      }
      if (losesResponse) backAt = Date.now() + Math.random() * maxDowntimeMs;
      throw new ConnectorError('outcome_unknown', 'The sandbox lost the response');
    };
  const writes = {
    changeAppointments: failing(changeAppointments),
    createMedicalNote: failing(createMedicalNote),
  };
  const members = Object.entries({ ...connector, ...writes }).map(([name, member]) => {
    if (typeof member !== 'function') return [name, member];
    const call = async (...input: unknown[]) => {
      if (Date.now() < backAt) throw new ConnectorError('unavailable', 'The sandbox is unavailable');
      return (member as (...all: unknown[]) => unknown)(...input);
    };
    return [name, call];
  });
  return Object.fromEntries(members) as Connector;
}
