import type { Connector } from '@crossward/connector-kit';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { Configuration } from '../../server/src/config/configuration.ts';
import type { PoliciesInFile } from '../../server/src/config/schema/policies.ts';
import { type FaultyEhrs, faultyEhrs } from '../ehrs/faulty-ehr.ts';
import { withEhr, wrapConnector } from '../ehrs/other-ehrs.ts';
import { type Gateway, startGateway } from './gateway.ts';
import { allAvailable, type Recovery, withQuickRecovery } from './recovery.ts';

interface AddedEhr {
  readonly id: string;
  /** The EHR of the demo that it is a copy of. */
  readonly like: string;
  /** Default: those of the demo. */
  readonly policies?: PoliciesInFile;
}

interface Options {
  /** EHRs beside those of the demo. */
  readonly more?: readonly AddedEhr[];
  /** What an EHR cannot do, besides that it fails. Default: it can do everything. */
  readonly limited?: (connector: Connector, emr: string) => Connector;
  readonly recovery?: Recovery;
  readonly configure?: (configuration: Configuration) => Configuration;
}

/**
 * Starts a gateway for the tests of this file, in front of EHRs that fail when a test says so, with short waits. Each test begins
 * without faults.
 */
export async function startBeforeFaultyEhrs({
  more = [],
  limited = (connector) => connector,
  recovery,
  configure = (it) => it,
}: Options = {}): Promise<{ readonly gateway: Gateway; readonly ehrs: FaultyEhrs }> {
  const ehrs = faultyEhrs();
  const gateway = await startGateway({
    connectors: [wrapConnector((connector, emr) => limited(ehrs.faulty(connector, emr), emr))],
    configure: (demo) =>
      configure(
        withQuickRecovery(
          more.reduce((all, ehr) => withEhr(all, { policies: {}, ...ehr }), demo),
          recovery,
        ),
      ),
  });
  beforeAll(() => allAvailable(gateway));
  beforeEach(() => ehrs.reset());
  afterAll(() => gateway.close());
  return { gateway, ehrs };
}
