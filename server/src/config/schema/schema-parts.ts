import Type, { type Static } from 'typebox';

// `errorMessage` is shown by the gateway and by editors (VS Code's JSON and YAML services).

/** An id used in URL paths and in references within the file. */
export function id(description: string) {
  return Type.String({
    description,
    pattern: '^[a-z0-9][a-z0-9-]{0,62}$',
    errorMessage: 'must be 1 to 63 lower-case letters, digits and hyphens, and must not start with a hyphen',
  });
}

export function settingText(description: string, options: { maxLength?: number } = {}) {
  return Type.String({ description, minLength: 1, maxLength: options.maxLength ?? 200 });
}

export function settingChoice<const Values extends string[]>(
  values: readonly [...Values],
  options: { description: string; default?: Values[number] },
) {
  return Type.Enum(values, { type: 'string', ...options });
}

export function wholeNumber(description: string, options: { minimum: number; maximum: number; default?: number }) {
  return Type.Integer({ description, ...options });
}

/** A URL without credentials, because the file must not contain secrets. */
export function webAddress(description: string) {
  return Type.String({
    description,
    format: 'uri',
    pattern: '^https?://[^/?#@]+([/?#].*)?$',
    errorMessage: 'must be a URL that starts with https:// or http:// and contains no user name or password',
  });
}

export const certificateFile = Type.Optional(
  settingText(
    'PEM file with certificate authorities to trust in addition to the default ones. Absolute, or relative to the working directory.',
    { maxLength: 4096 },
  ),
);

const referenceForm = 'must be { env: NAME }: the name of an environment variable, never the secret itself';

/** A secret, which is always a reference to an environment variable. */
export function environmentReference(description: string) {
  return Type.Object(
    {
      env: Type.String({
        description: 'Name of the environment variable with the secret.',
        pattern: '^[A-Za-z_][A-Za-z0-9_]{0,127}$',
        errorMessage: referenceForm,
      }),
    },
    { description, additionalProperties: false, errorMessage: referenceForm },
  );
}
export type EnvironmentReference = Static<ReturnType<typeof environmentReference>>;
