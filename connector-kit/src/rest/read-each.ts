/** So that one list of ids does not fill the queue of the EHR. */
const atOnce = 4;

/** Reads records one by one, some at a time, each id once, for an EHR that has no call for several. Absent ones are left out. */
export async function readEach<Found>(
  ids: readonly string[],
  read: (id: string) => Promise<Found | null | undefined>,
): Promise<Found[]> {
  const found: Found[] = [];
  const left = [...new Set(ids)];
  while (left.length > 0) {
    const some = await Promise.all(left.splice(0, atOnce).map(read));
    found.push(...some.filter((it) => it !== null && it !== undefined));
  }
  return found;
}
