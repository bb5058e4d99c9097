import type { Connector } from '@crossward/connector-kit';
import { turnsOverProcesses } from '@crossward/connector-kit/conformance';
import { openConnector, settingsFor } from './subject.ts';

/** For a process of its own. */
export default ({ url, turns }: { url: string; turns: string }): Promise<Connector> =>
  openConnector(settingsFor(url), { inTurn: turnsOverProcesses(turns) });
