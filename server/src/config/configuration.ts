import { createHash } from 'node:crypto';
import type { IdentifierType } from '@crossward/connector-kit';
import { Default } from 'typebox/value';
import type { NumberPolicy } from '../identifiers/value-rules.ts';
import { type ConsoleSettings, resolveConsole } from './console-settings.ts';
import type { EnvironmentVariables } from './environment/environment.ts';
import { isReference, variable, type WithSecrets, withSecrets } from './environment/references.ts';
import { Secret } from './environment/secret.ts';
import { type ConnectionSettings, resolveConnection } from './schema/connection.ts';
import { httpSchema } from './schema/http.ts';
import { resolveIdentifierType } from './schema/identifier-types.ts';
import { type PatientPageSettings, resolvePatientPage } from './schema/patient-page.ts';
import { type Policies, resolvePolicies } from './schema/policies.ts';
import {
  auditSchema,
  type ConfigurationFile,
  documentSettingsSchema,
  limitsSchema,
  retentionSchema,
} from './schema/schema.ts';
import type { ConfiguredService } from './schema/services.ts';
import { webhooksSchema } from './schema/webhooks.ts';

/** An EHR as it is written. */
export type EmrInFile = ConfigurationFile['emrs'][number];
type CareUnitInFile = EmrInFile['care_units'][number];
type ClientInFile = ConfigurationFile['clients'][number];
type Settings = Readonly<Record<string, unknown>>;
type Limits = Readonly<Required<NonNullable<ConfigurationFile['limits']>>>;
type Documents = Readonly<Required<NonNullable<ConfigurationFile['documents']>>>;
type Webhooks = Readonly<Required<NonNullable<ConfigurationFile['webhooks']>>>;
type HttpInFile = NonNullable<ConfigurationFile['http']>;
type Http = Readonly<Required<Omit<HttpInFile, 'public_url' | 'api_url' | 'operations_port'>>> & {
  readonly operations_port?: number;
  /** Without a slash at the end. */
  readonly public_url?: string;
  /** Without a slash at the end. */
  readonly api_url?: string;
};
type Retention = Readonly<Required<NonNullable<ConfigurationFile['retention']>>>;
type AuditInFile = NonNullable<ConfigurationFile['audit']>;
type Audit = Readonly<Required<Omit<AuditInFile, 'export'>>> & {
  /** Absent: not written to a file. */
  readonly export?: Readonly<Required<NonNullable<AuditInFile['export']>>>;
};

export type ConfiguredCareUnit = Readonly<Omit<CareUnitInFile, 'policies' | 'patient_page' | 'settings'>> & {
  /** The EHR's policies, overridden by those of the care unit. */
  readonly policies: Policies;
  /** The EHR's settings, overridden by those of the care unit. */
  readonly patient_page: PatientPageSettings;
  readonly settings: Settings;
};

export type ConfiguredEmr = Readonly<
  Required<
    Omit<
      EmrInFile,
      | 'check_digits'
      | 'reserve_numbers'
      | 'default_country'
      | 'connection'
      | 'policies'
      | 'patient_page'
      | 'settings'
      | 'care_units'
    >
  >
> & {
  readonly check_digits?: NumberPolicy['checkDigits'];
  readonly reserve_numbers?: boolean;
  /** The policies of care units that do not override them. */
  readonly policies: Policies;
  /** Valid against the connector's `settingsSchema`, except that each `{ env: NAME }` is resolved to a `Secret`. */
  readonly settings: Settings;
  readonly connection: ConnectionSettings;
  readonly care_units: readonly ConfiguredCareUnit[];
};

export type ConfiguredClient = Readonly<Required<Pick<ClientInFile, 'id' | 'name'>>> & {
  /** SHA-256 of each valid secret, as 64 lower-case hexadecimal digits. */
  readonly secrets: readonly { readonly sha256: string }[];
  /** Public keys with which it signs. At most one of `jwks` and `jwks_uri`. */
  readonly jwks?: ClientInFile['jwks'];
  readonly jwks_uri?: string;
  readonly scopes: readonly ClientInFile['scopes'][number][];
  /** At most one per EHR, with all care units that the client may use. */
  readonly grants: readonly { readonly emr: string; readonly care_units: readonly string[] }[];
  /** Instead of those of `limits`. */
  readonly budgets?: ClientInFile['budgets'];
  /** Where the page for patients may link back to. */
  readonly return_urls?: readonly string[];
};

/** What the configuration says about clients and what they can be granted, without secrets. */
export interface ConfiguredAccess {
  readonly emrs: readonly (Pick<ConfiguredEmr, 'id' | 'name'> & {
    readonly care_units: readonly Pick<ConfiguredCareUnit, 'id' | 'name'>[];
  })[];
  readonly clients: readonly Omit<ConfiguredClient, 'secrets'>[];
  /** Absent: `jwks_uri` must have TLS. */
  readonly webhooks?: Pick<Webhooks, 'allow_http'>;
}

export type ConfiguredMessages = WithSecrets<NonNullable<ConfigurationFile['messages']>>;

/** The resolved configuration: defaults applied, secrets resolved, deeply frozen. */
export interface Configuration {
  readonly emrs: readonly ConfiguredEmr[];
  readonly clients: readonly ConfiguredClient[];
  /** Services that mean the same in all care units. */
  readonly services: readonly ConfiguredService[];
  readonly messages: ConfiguredMessages;
  /** Per client. */
  readonly limits: Limits;
  readonly documents: Documents;
  /** In addition to those that come with the gateway. */
  readonly identifier_types: readonly IdentifierType[];
  /** In lower case. */
  readonly identifier_headers: readonly string[];
  /** How callers reach the gateway. */
  readonly http: Http;
  readonly retention: Retention;
  readonly audit: Audit;
  readonly webhooks: Webhooks;
  /** Absent: no console. */
  readonly console?: ConsoleSettings;
}

/** Applies defaults and resolves secrets in a valid file. */
export function resolveConfiguration(file: ConfigurationFile, variables: EnvironmentVariables): Configuration {
  const emrs = file.emrs.map((emr) => resolveEmr(emr, variables));
  return deepFreeze({
    emrs,
    clients: file.clients.map((client) => resolveClient(client, emrs, variables)),
    services: file.services ?? [],
    messages: withSecrets(file.messages ?? {}, variables),
    limits: Default(limitsSchema, { ...file.limits }) as Limits,
    documents: Default(documentSettingsSchema, { ...file.documents }) as Documents,
    identifier_types: (file.identifier_types ?? []).map(resolveIdentifierType),
    identifier_headers: (file.identifier_headers ?? []).map((name) => name.toLowerCase()),
    http: resolveHttp(file.http),
    retention: Default(retentionSchema, { ...file.retention }) as Retention,
    audit: Default(auditSchema, { ...file.audit }) as Audit,
    webhooks: resolveWebhooks(file.webhooks),
    ...(file.console && { console: resolveConsole(file.console, variables) }),
  });
}

/** Applies defaults. */
export function resolveWebhooks(webhooks: ConfigurationFile['webhooks']): Webhooks {
  return Default(webhooksSchema, { ...webhooks }) as Webhooks;
}

function resolveHttp({ public_url, api_url, ...rest }: HttpInFile = {}): Http {
  return {
    ...(Default(httpSchema, { ...rest }) as Http),
    ...(public_url !== undefined && { public_url: withoutSlash(public_url) }),
    ...(api_url !== undefined && { api_url: withoutSlash(api_url) }),
  };
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}

/** Applies defaults and resolves secrets in one EHR of a valid file. */
export function resolveEmr(emr: EmrInFile, variables: EnvironmentVariables): ConfiguredEmr {
  return {
    ...emr,
    settings: withSecrets(emr.settings ?? {}, variables),
    synthetic_identifiers: emr.synthetic_identifiers ?? false,
    connection: resolveConnection(emr.connection, variables),
    policies: resolvePolicies(emr.policies),
    care_units: emr.care_units.map((careUnit) => ({
      ...(emr.default_country === undefined ? {} : { default_country: emr.default_country }),
      ...careUnit,
      policies: resolvePolicies(emr.policies, careUnit.policies),
      patient_page: resolvePatientPage(emr.patient_page, careUnit.patient_page),
      settings: withSecrets(careUnit.settings ?? {}, variables),
    })),
  };
}

function resolveClient(
  client: ClientInFile,
  emrs: ConfiguredAccess['emrs'],
  variables: EnvironmentVariables,
): ConfiguredClient {
  return {
    ...resolveAccess(client, emrs),
    secrets: (client.secrets ?? []).map((secret) => ({
      sha256: isReference(secret) ? hashSecret(variable(secret, variables) ?? '') : secret.sha256.toLowerCase(),
    })),
  };
}

/** What a client of a valid file may do, without its secrets. */
export function resolveAccess(
  { secrets: _, ...client }: ClientInFile,
  emrs: ConfiguredAccess['emrs'],
): ConfiguredAccess['clients'][number] {
  return {
    ...client,
    name: client.name ?? client.id,
    grants: client.grants.map(({ emr, care_units }) => ({ emr, care_units: care_units ?? careUnitIds(emrs, emr) })),
  };
}

function careUnitIds(emrs: ConfiguredAccess['emrs'], emr: string): string[] {
  return emrs.find(({ id }) => id === emr)?.care_units.map(({ id }) => id) ?? [];
}

/** The stored form of a client secret: SHA-256 of the UTF-8 text, as 64 lower-case hexadecimal digits. */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** Freezes a value and everything in it, except secrets. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  if (!(value instanceof Secret)) Object.values(value).forEach(deepFreeze);
  return Object.freeze(value);
}
