/** Bytes. The memory that one upload or download takes is a few times as much. */
const chunkSize = 64 * 1024;

/** The number of chunks of content of so many bytes. */
export function chunkCount(bytes: number): number {
  return Math.ceil(bytes / chunkSize);
}

/**
 * Joins and cuts pieces of any size into chunks of `chunkSize`; the last one may be shorter. All are the same memory: a
 * chunk is valid until the next one is requested.
 */
export async function* inChunks(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  const chunk = Buffer.allocUnsafe(chunkSize);
  let filled = 0;
  for await (const piece of pieces) {
    for (let from = 0; from < piece.length; ) {
      const part = piece.subarray(from, from + chunkSize - filled);
      chunk.set(part, filled);
      filled += part.length;
      from += part.length;
      if (filled < chunkSize) continue;
      yield chunk;
      filled = 0;
    }
  }
  if (filled > 0) yield chunk.subarray(0, filled);
}
