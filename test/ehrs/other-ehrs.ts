import type { Connector, ConnectorModule, DatabaseContext } from '@crossward/connector-kit';
import type { Configuration } from '../../server/src/config/configuration.ts';
import { type PoliciesInFile, resolvePolicies } from '../../server/src/config/schema/policies.ts';
import { connectorUnderTest } from './under-test.ts';

/** Wraps the connector under test. `change` is called for each configured EHR. */
export function wrapConnector(
  change: (connector: Connector, emr: string, context: DatabaseContext<unknown>) => Connector,
): ConnectorModule {
  const module = connectorUnderTest();
  return {
    ...module,
    async open(context: DatabaseContext<unknown>) {
      return change(await module.open(context), context.emr, context);
    },
  };
}

/** Adds an EHR: a copy of `like` with other policies, granted to the same clients. */
export function withEhr(
  configuration: Configuration,
  { id, like, policies }: { readonly id: string; readonly like: string; readonly policies: PoliciesInFile },
): Configuration {
  const model = configuration.emrs.find((emr) => emr.id === like);
  if (!model) throw new Error(`No EHR is named ${like}`);
  const resolved = resolvePolicies(model.policies, policies);
  const emr = {
    ...model,
    id,
    policies: resolved,
    care_units: model.care_units.map((careUnit) => ({ ...careUnit, policies: resolved })),
  };
  const clients = configuration.clients.map((client) => ({
    ...client,
    grants: [
      ...client.grants,
      ...client.grants.filter((grant) => grant.emr === like).map((grant) => ({ ...grant, emr: id })),
    ],
  }));
  return { ...configuration, emrs: [...configuration.emrs, emr], clients };
}

/** Lets EHRs fail often without opening a circuit breaker. */
export function withTolerantBreakers(configuration: Configuration): Configuration {
  const emrs = configuration.emrs.map((emr) => ({
    ...emr,
    connection: { ...emr.connection, breaker: { ...emr.connection.breaker, failures: 1000 } },
  }));
  return { ...configuration, emrs };
}

export function careUnitPath(emr: string, careUnitId: string): string {
  return `/api/emrs/${emr}/care-units/${careUnitId}`;
}
