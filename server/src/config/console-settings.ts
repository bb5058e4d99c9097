import { Default } from 'typebox/value';
import type { EnvironmentVariables } from './environment/environment.ts';
import { type WithSecrets, withSecrets } from './environment/references.ts';
import type { Secret } from './environment/secret.ts';
import { type ConsoleInFile, consoleSchema } from './schema/console.ts';

type Completed = Readonly<Required<Omit<ConsoleInFile, 'url' | 'oidc' | 'time_zone'>>>;
type OidcInFile = NonNullable<ConsoleInFile['oidc']>;
type CompletedOidc = OidcInFile & Required<Pick<OidcInFile, 'scopes'>>;
export type OidcSettings = WithSecrets<CompletedOidc>;

/** The settings of the console, with defaults applied. */
export type ConsoleSettings = Completed & {
  /** Without a slash at the end. Absent in the demo: any loopback host name. */
  readonly url?: string;
  readonly oidc?: OidcSettings;
  /** Default: the one that most care units have. */
  readonly time_zone?: string;
  /** The operator account of the demo, which has no one-time codes. */
  readonly demoOperator?: { readonly name: string; readonly password: Secret };
};

/** Applies defaults and resolves secrets. */
export function resolveConsole(console: ConsoleInFile, variables: EnvironmentVariables): ConsoleSettings {
  const { url, oidc, ...rest } = Default(consoleSchema, { ...console }) as ConsoleInFile & Completed;
  return {
    ...rest,
    url: url.replace(/\/+$/, ''),
    ...(oidc && { oidc: withSecrets(oidc as CompletedOidc, variables) }),
  };
}

/** The console of the demo, which only this machine can reach. */
export function demoConsole(demoOperator: NonNullable<ConsoleSettings['demoOperator']>): ConsoleSettings {
  const { url: _, ...settings } = resolveConsole({ url: 'http://localhost', local_accounts: true }, {});
  return { ...settings, demoOperator };
}
