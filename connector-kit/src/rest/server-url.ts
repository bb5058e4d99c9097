import Type from 'typebox';

/** The schema of a setting with the address of a server. @param description of what it is the address */
export function serverUrlSchema(description: string) {
  return Type.String({
    format: 'uri',
    pattern: '^https?://.*[^/]$',
    errorMessage: 'must be an http:// or https:// URL that does not end with /',
    description,
  });
}
