/** Reads a stream into memory. `null`: it is longer than `longest` bytes, and was left unread. */
export async function bytesOf(chunks: AsyncIterable<Uint8Array>, longest: number): Promise<Buffer | null> {
  const read: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > longest) return null;
    read.push(chunk);
  }
  return Buffer.concat(read);
}
