import type { ConnectorModule } from '@crossward/connector-kit';
import type { Configuration } from '../../config/configuration.ts';
import { type Environment, readEnvironment } from '../../config/environment/environment.ts';
import { environmentVariables } from '../../config/environment/environment-variables.ts';
import { demoConfigurationPath } from '../../config/file/demo.ts';
import { loadWithConnectors } from '../../config/file/load.ts';
import { formatPath } from '../../config/mistakes/mistake.ts';
import { nearest } from '../../config/mistakes/nearest.ts';
import { requireLoopback } from '../../config/rules/loopback.ts';
import { allowedPlainText } from '../../config/rules/plain-text.ts';
import { connectors } from '../../ehr/connectors.ts';
import { ConfigurationError } from '../../startup/configuration-error.ts';
import { type Finding, findingsOf } from './finding.ts';

/** What a gateway would start with, as far as it could be read. */
export interface Setup {
  readonly findings: readonly Finding[];
  /** Absent: a variable has a mistake. */
  readonly environment?: Environment;
  /** Absent: the file has a mistake. */
  readonly configuration?: Configuration;
  /** The built-in connectors, and the plug-ins of the file. */
  readonly connectors: readonly ConnectorModule[];
}

const found = findingsOf('configuration');

/**
 * Reads the environment variables and the configuration file, as the gateway does at its start.
 *
 * @param config path of the file. Default: that of `CROSSWARD_CONFIG`, otherwise the demo
 */
export async function readSetup(config: string | undefined): Promise<Setup> {
  const variables = config === undefined ? process.env : { ...process.env, CROSSWARD_CONFIG: config };
  const findings: Finding[] = misspelled();
  const environment = attempt(() => readEnvironment(variables), 'environment', findings);
  const path = variables.CROSSWARD_CONFIG || undefined;
  const source = { path: path ?? demoConfigurationPath, connectors, environment: process.env };
  const subject = path === undefined ? 'demo' : 'file';
  const loaded = await attemptLater(loadWithConnectors(source), subject, findings);
  if (environment) {
    const isLocal = path === undefined || usesDemoMailbox(loaded?.configuration);
    attempt(
      () => isLocal && requireLoopback(environment.host, path ? 'the demo mailbox' : 'the demo'),
      'HOST',
      findings,
    );
  }
  if (loaded) {
    const { emrs, clients } = loaded.configuration;
    const text =
      path === undefined
        ? 'CROSSWARD_CONFIG is not set: the gateway runs the demo'
        : `${path}: ${emrs.length === 0 ? 'no EHRs' : `EHRs ${emrs.map(({ id }) => id).join(', ')}`}; ${clients.length} ${clients.length === 1 ? 'client' : 'clients'}`;
    findings.push(found(subject, 'ok', text), ...plainText(loaded.configuration));
  }
  return {
    findings,
    connectors: loaded?.connectors ?? connectors,
    ...(environment && { environment }),
    ...(loaded && { configuration: loaded.configuration }),
  };
}

function usesDemoMailbox(configuration: Configuration | undefined): boolean {
  const { sms, email } = configuration?.messages ?? {};
  return sms?.provider === 'demo_mailbox' || email?.provider === 'demo_mailbox';
}

function plainText(configuration: Configuration): Finding[] {
  const text = 'plain text: data of patients and credentials go to another machine without TLS';
  return allowedPlainText(configuration).map((path) => found(formatPath(path), 'warning', text));
}

/** Variables that the gateway does not read. Those of the project's own tools have other names. */
function misspelled(): Finding[] {
  const known = Object.keys(environmentVariables);
  return Object.keys(process.env)
    .filter((name) => name.startsWith('CROSSWARD_') && !known.includes(name))
    .flatMap((name) => {
      const meant = nearest(name, known);
      return meant === undefined
        ? []
        : [found(name, 'warning', `is not a variable of the gateway; did you mean ${meant}?`)];
    });
}

function attempt<Result>(work: () => Result, subject: string, findings: Finding[]): Result | undefined {
  try {
    return work();
  } catch (error) {
    findings.push(...mistakesOf(error, subject));
    return undefined;
  }
}

async function attemptLater<Result>(work: Promise<Result>, subject: string, findings: Finding[]) {
  return await work.catch((error: unknown) => {
    findings.push(...mistakesOf(error, subject));
    return undefined;
  });
}

function mistakesOf(error: unknown, subject: string): Finding[] {
  if (!(error instanceof ConfigurationError)) throw error;
  return error.mistakes.map((text) => found(subject, 'problem', text));
}
