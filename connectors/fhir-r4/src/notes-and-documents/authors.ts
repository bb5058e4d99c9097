import type { CareUnitDirectory } from '../directory/directory.ts';
import { type FhirDocumentReference, type FhirPractitionerRole, localReference, referenceTo, typeOf } from '../fhir.ts';
import { resourceId } from '../mappers/resource.ts';
import type { FhirClient } from '../server/client.ts';

/** The id of a document's author in the gateway. `null`: none of the authors is a resource. */
export type AuthorOf = (document: FhirDocumentReference) => string | null;

/** Reads the roles that the care unit does not know. */
export async function authorsOf(
  client: Pick<FhirClient, 'readAllowed'>,
  directory: CareUnitDirectory,
  documents: readonly FhirDocumentReference[],
): Promise<AuthorOf> {
  const unknown = documents
    .flatMap(referencesOf)
    .filter((it) => typeOf(it) === 'PractitionerRole' && directory.practitionerOf(it) === undefined);
  const roles = unknown.length === 0 ? [] : await client.readAllowed<FhirPractitionerRole>(unknown);
  const practitioners = new Map(roles.map((role) => [referenceTo(role), localReference(role.practitioner)]));
  return (document) => {
    for (const reference of referencesOf(document)) {
      const named = directory.practitionerOf(reference) ?? practitioners.get(reference) ?? reference;
      if (['Practitioner', 'Location', 'Device'].includes(typeOf(named))) return resourceId(named);
    }
    return null;
  };
}

function referencesOf({ author }: FhirDocumentReference): string[] {
  return (author ?? []).flatMap((it) => localReference(it) ?? []);
}

/** Which reference a new document names its author by. */
export type AuthorReference = 'practitioner' | 'practitioner_role';

/** `undefined`: the care unit has no such resource. A practitioner without a role here is named as such. */
export function authorReference(
  directory: CareUnitDirectory,
  authorId: string,
  kind: AuthorReference,
): { readonly reference: string } | undefined {
  const [own, ...roles] = directory.namesOf(authorId);
  const here = roles.filter((it) => directory.sideOf(it) === 'here').sort();
  const reference = kind === 'practitioner_role' ? (here[0] ?? own) : own;
  return reference === undefined ? undefined : { reference };
}
