/**
 * A resource's id in the gateway. A Practitioner keeps its FHIR id; others have a prefix. No FHIR id contains `_`
 * (https://hl7.org/fhir/R4/datatypes.html#id), so the two cannot be equal.
 */
export function resourceId(reference: string): string {
  const [type = '', id = ''] = reference.split('/');
  return type === 'Practitioner' ? id : `${type.toLowerCase()}_${id}`;
}

/** The reference for an id. `undefined`: no resource can have this id. */
export function resourceReference(id: string): string | undefined {
  const [, prefix, plain = ''] = /^(?:(location|device)_)?((?!\.{1,2}$)[A-Za-z0-9.-]{1,64})$/.exec(id) ?? [];
  if (plain === '') return undefined;
  return `${prefix === 'location' ? 'Location' : prefix === 'device' ? 'Device' : 'Practitioner'}/${plain}`;
}
