import { type ConnectorContext, ConnectorError } from '@crossward/connector-kit';
import type { AuthSettings, FhirSettings } from '../../settings.ts';
import { createAuthorizer } from './create-authorizer.ts';

/**
 * Signs in, and returns the settings. If the server rejects them, tries the client secret in the other place (header or
 * body), and returns the settings that work.
 *
 * @throws ConnectorError the first rejection, if both fail
 */
export async function settingsThatSignIn({ settings, http }: ConnectorContext<FhirSettings>): Promise<FhirSettings> {
  const signIn = async (auth: AuthSettings) => (await createAuthorizer(auth, settings.base_url, http)).headers();
  const { auth = { type: 'none' } } = settings;
  try {
    await signIn(auth);
    return settings;
  } catch (error) {
    const isRejected = error instanceof ConnectorError && error.kind === 'rejected';
    if (!isRejected || auth.type !== 'client_credentials') throw error;
    const otherPlace = { ...auth, send_secret_in: auth.send_secret_in === 'body' ? 'header' : 'body' } as const;
    const signedIn = await signIn(otherPlace).catch(() => undefined);
    if (!signedIn) throw error;
    return { ...settings, auth: otherPlace };
  }
}
