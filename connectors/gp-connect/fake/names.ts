export function profile(name: string): string {
  return `https://fhir.nhs.uk/STU3/StructureDefinition/${name}`;
}

export function identifier(name: string): string {
  return `https://fhir.nhs.uk/Id/${name}`;
}
