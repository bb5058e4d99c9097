/**
 * A resource's id in the gateway. A Practitioner's is its FHIR id; others say what they are. No FHIR id has a `_`
 * (https://hl7.org/fhir/R4/datatypes.html#id), so the two never meet.
 */
export function resourceId(reference: string): string {
  const [type = '', id = ''] = reference.split('/');
  return type === 'Practitioner' ? id : `${type.toLowerCase()}_${id}`;
}

/** `undefined`: no resource can have this id. */
export function resourceReference(id: string): string | undefined {
  const [, prefix, plain = ''] = /^(?:(location|device)_)?((?!\.{1,2}$)[A-Za-z0-9.-]{1,64})$/.exec(id) ?? [];
  if (plain === '') return undefined;
  return `${prefix === 'location' ? 'Location' : prefix === 'device' ? 'Device' : 'Practitioner'}/${plain}`;
}
