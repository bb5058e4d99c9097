import Type, { type TProperties } from 'typebox';
import { type SecretValue, secretSchema } from '../secrets.ts';

/*
 * Schemas of settings: https://github.com/sinclairzx81/typebox. The description of a setting is shown to operators.
 */

/** Settings with these names, and no others. @param description of the whole. Absent: none */
export function settingsOf<Properties extends TProperties>(properties: Properties, description?: string) {
  return Type.Object(properties, { additionalProperties: false, ...(description ? { description } : {}) });
}

/** A text that is not empty. */
export function textSetting(description?: string) {
  return Type.String({ minLength: 1, ...(description ? { description } : {}) });
}

/** A secret: the file names the variable of the environment that has it. */
export const secretSetting = Type.Unsafe<SecretValue>(secretSchema);

/** The address of a server. @param description of what it is the address */
export function serverUrlSchema(description: string) {
  return Type.String({
    format: 'uri',
    pattern: '^https?://.*[^/]$',
    errorMessage: 'must be an http:// or https:// URL that does not end with /',
    description,
  });
}
