/** A secret in a connector's settings. It never appears in a log or message; only `reveal` returns it. */
export interface SecretValue {
  reveal(): string;
}

/**
 * Schema of a secret in `settingsSchema`. The configuration file names an environment variable, `{ env: NAME }`, and the
 * gateway replaces it with a `SecretValue`.
 */
export const secretSchema = {
  type: 'object',
  required: ['env'],
  properties: { env: { type: 'string', description: 'Name of the environment variable that holds the secret.' } },
  additionalProperties: false,
  errorMessage: 'must be { env: NAME }: the name of an environment variable, never the secret itself',
} as const;
