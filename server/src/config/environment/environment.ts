import { ConfigurationError } from '../../startup/configuration-error.ts';
import type { TelemetrySettings } from '../../telemetry/settings.ts';
import { parseSecretKey, Secret, secretKeyForm } from './secret.ts';
import { readTelemetry } from './telemetry-variables.ts';

/** Variables by name, as in `process.env`. */
export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

const logFormats = ['json', 'pretty'] as const;

/** The validated environment variables. An empty variable counts as unset. */
export interface Environment {
  /** `HOST`, default `127.0.0.1`. */
  readonly host: string;
  /** `PORT`, default 8080. 0 picks a free port. */
  readonly port: number;
  /** `DATABASE_URL`. If absent, the embedded database in `dataDirectory` is used. */
  readonly databaseUrl: Secret | undefined;
  /** `DATABASE_POOL_SIZE`: maximum number of PostgreSQL connections for requests. Default: that of `openDatabase`. */
  readonly databasePoolSize: number | undefined;
  /** `CROSSWARD_WORKERS`: number of gateway processes on this machine, default 1. More than 1 needs `databaseUrl`. */
  readonly workers: number;
  /** `CROSSWARD_CONFIG`. If absent, the demo configuration is used. */
  readonly configurationPath: string | undefined;
  /** `CROSSWARD_DATA_DIR`, default `.data`. Not resolved: may be relative to the working directory. */
  readonly dataDirectory: string;
  /** `CROSSWARD_SECRET_KEY`: 32 bytes. Always set if `configurationPath` is. */
  readonly secretKey: Secret<Buffer> | undefined;
  /** `CROSSWARD_PREVIOUS_SECRET_KEYS`: 32 bytes each. Used only to read data encrypted with them. */
  readonly previousSecretKeys: readonly Secret<Buffer>[];
  /** `LOG_LEVEL`, default `info`. */
  readonly logLevel: LogLevel;
  /** `LOG_FORMAT`. If absent: `pretty` for the demo in a terminal, else `json`. */
  readonly logFormat: (typeof logFormats)[number] | undefined;
  /** `OTEL_…`. If absent, nothing of OpenTelemetry is loaded. */
  readonly telemetry: TelemetrySettings | undefined;
}

/**
 * Reads the variables listed in `.env.example`.
 *
 * @throws {ConfigurationError} naming every invalid variable, without values that can be secret
 */
export function readEnvironment(variables: EnvironmentVariables = process.env): Environment {
  const mistakes: string[] = [];
  const read = <Value>(name: string, parse: (text: string) => Value | undefined, expected: string) => {
    const text = variables[name];
    if (text === undefined || text === '') return undefined;
    const value = parse(text);
    if (value === undefined) mistakes.push(`${name}: must be ${expected}`);
    return value;
  };
  const text = (name: string) => variables[name] || undefined;

  const environment: Environment = {
    host: text('HOST') ?? '127.0.0.1',
    port: read('PORT', parsePort, `a whole number from 0 to 65535, not ${JSON.stringify(variables.PORT)}`) ?? 8080,
    databaseUrl: read('DATABASE_URL', parseDatabaseUrl, 'a URL that starts with postgres:// or postgresql://'),
    databasePoolSize: read(
      'DATABASE_POOL_SIZE',
      parsePoolSize,
      `a whole number from 1 to 1000, not ${JSON.stringify(variables.DATABASE_POOL_SIZE)}`,
    ),
    workers:
      read(
        'CROSSWARD_WORKERS',
        parseWorkers,
        `a whole number from 1 to 64, not ${JSON.stringify(variables.CROSSWARD_WORKERS)}`,
      ) ?? 1,
    configurationPath: text('CROSSWARD_CONFIG'),
    dataDirectory: text('CROSSWARD_DATA_DIR') ?? '.data',
    secretKey: read('CROSSWARD_SECRET_KEY', parseKey, secretKeyForm),
    previousSecretKeys: Object.freeze(
      read('CROSSWARD_PREVIOUS_SECRET_KEYS', parseKeys, `keys separated by commas, each ${secretKeyForm}`) ?? [],
    ),
    logLevel:
      read(
        'LOG_LEVEL',
        (level) => logLevels.find((known) => known === level),
        `one of ${logLevels.join(', ')}, not ${JSON.stringify(variables.LOG_LEVEL)}`,
      ) ?? 'info',
    logFormat: read(
      'LOG_FORMAT',
      (format) => logFormats.find((known) => known === format),
      `one of ${logFormats.join(', ')}, not ${JSON.stringify(variables.LOG_FORMAT)}`,
    ),
    telemetry: readTelemetry(variables, mistakes),
  };

  if (environment.configurationPath !== undefined && text('CROSSWARD_SECRET_KEY') === undefined) {
    mistakes.push(`CROSSWARD_SECRET_KEY: is not set but required with CROSSWARD_CONFIG: ${secretKeyForm}`);
  }
  if (environment.workers > 1 && text('DATABASE_URL') === undefined) {
    mistakes.push('CROSSWARD_WORKERS: needs DATABASE_URL, because only one process can open the embedded database');
  }
  if (mistakes.length > 0) throw new ConfigurationError(mistakes);
  return Object.freeze(environment);
}

function parsePort(text: string): number | undefined {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined;
}

function parsePoolSize(text: string): number | undefined {
  return /^[1-9]\d{0,3}$/.test(text) && Number(text) <= 1000 ? Number(text) : undefined;
}

function parseWorkers(text: string): number | undefined {
  return /^[1-9]\d?$/.test(text) && Number(text) <= 64 ? Number(text) : undefined;
}

function parseDatabaseUrl(text: string): Secret | undefined {
  return /^postgres(ql)?:\/\/./.test(text) ? new Secret(text) : undefined;
}

function parseKey(text: string): Secret<Buffer> | undefined {
  const key = parseSecretKey(text);
  return key && new Secret(key);
}

function parseKeys(text: string): Secret<Buffer>[] | undefined {
  const keys = text.split(',').map((part) => parseKey(part.trim()));
  return keys.every((key) => key !== undefined) ? keys : undefined;
}
