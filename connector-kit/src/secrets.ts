/** A secret of the settings as a connector gets it. It shows in no log and no message; only `reveal` hands it out. */
export interface SecretValue {
  reveal(): string;
}

/**
 * What `settingsSchema` says of a secret: the file names an environment variable, `{ env: NAME }`, and the gateway puts a
 * `SecretValue` in its place.
 */
export const secretSchema = {
  type: 'object',
  required: ['env'],
  properties: { env: { type: 'string', description: 'Name of the environment variable that holds the secret.' } },
  additionalProperties: false,
  errorMessage: 'must be { env: NAME }: the name of an environment variable, never the secret itself',
} as const;
