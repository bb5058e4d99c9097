const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * The id of the Binary in a URL: `17` for `Binary/17`. Some servers replace the reference by a signed URL of their storage
 * when they send it, such as `https://storage.medplum.com/binary/17/1?Signature=…`, or
 * `https://fhir.clinic.example/storage/…` of a Medplum server that keeps its own files.
 *
 * @param stored the Binary that the gateway has stored for the document: `Binary/17`. An id that is a UUID is recognized
 *   anywhere in the path, since nothing else has it.
 */
export function binaryIdIn(url: string | undefined, stored?: string): string | undefined {
  const [path = ''] = (url ?? '').split(/[?#]/);
  const named = /(?:^|\/)binary\/([A-Za-z0-9.-]{1,64})(?=\/|$)/i.exec(path)?.[1];
  if (named !== undefined || stored === undefined) return named;
  const id = binaryIdIn(stored);
  return id !== undefined && uuid.test(id) && path.split('/').includes(id) ? id : undefined;
}
