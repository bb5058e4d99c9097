/** What the encrypted secret of an account's one-time codes is bound to. */
export function totpContext(id: string): string {
  return `operator ${id}`;
}
