/** The person who makes a request, as the client says. */
export interface User {
  /** Id or name of the user in the client's system. */
  readonly id: string;
  readonly familyName: string;
  readonly givenName: string;
  readonly title: string | null;
  /** Of the user's smartcard of the NHS. `null`: none. */
  readonly sdsUserId: string | null;
  /** Of the user's smartcard of the NHS. `null`: none. */
  readonly sdsRoleProfileId: string | null;
}
