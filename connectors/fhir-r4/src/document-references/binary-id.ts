/**
 * The id of the Binary in a URL, wherever that is: `17` for `Binary/17`. Some servers replace the reference by a signed URL
 * of their storage when they send it, such as `https://storage.medplum.com/binary/17/1?Signature=…`.
 */
export function binaryIdIn(url: string | undefined): string | undefined {
  return /(?:^|\/)binary\/([A-Za-z0-9.-]{1,64})(?=[/?]|$)/i.exec(url ?? '')?.[1];
}
