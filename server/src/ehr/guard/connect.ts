import { lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { trusting } from '../../config/certificates.ts';
import { isLoopback } from '../../config/loopback.ts';
import { mayConnectTo } from './addresses.ts';

export interface ConnectSettings {
  readonly connectTimeoutMs: number;
  readonly allowPrivateAddresses: boolean;
  /** Whether addresses of other machines may be connected to without TLS. */
  readonly allowPlainText: boolean;
  /** PEM certificates of authorities to trust in addition to the default ones. */
  readonly ca?: string | undefined;
}

/** The address of an EHR is not allowed for this connection. */
class AddressRejected extends Error {
  readonly code = addressRejected;
}
export const addressRejected = 'EHR_ADDRESS_REJECTED';

/**
 * Connects to allowed addresses only. Checks the resolved address of every connection, which prevents DNS rebinding.
 * Always verifies certificates, whatever the environment variables say.
 */
export function createConnect(settings: ConnectSettings): buildConnector.connector {
  const { allowPrivateAddresses, allowPlainText } = settings;
  const isPermitted = (address: string) => mayConnectTo(address, allowPrivateAddresses);
  const encrypted = permittedConnect(settings, isPermitted);
  const plain = permittedConnect(settings, (it) => isPermitted(it) && (allowPlainText || isLoopback(it)));
  return (options, callback) => (options.protocol === 'https:' ? encrypted : plain)(options, callback);
}

function permittedConnect(
  { connectTimeoutMs, ca }: ConnectSettings,
  isPermitted: (address: string) => boolean,
): buildConnector.connector {
  const connect = buildConnector({
    timeout: connectTimeoutMs,
    allowH2: false,
    rejectUnauthorized: true,
    lookup: permittedLookup(isPermitted),
    ...(ca === undefined ? {} : { secureContext: trusting(ca) }),
  });
  return (options, callback) => {
    // An IP address needs no DNS look-up.
    if (isIP(options.hostname) && !isPermitted(options.hostname)) callback(new AddressRejected(), null);
    else connect(options, callback);
  };
}

function permittedLookup(isPermitted: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error || !first) callback(error ?? new AddressRejected(), '');
      else if (!addresses.every(({ address }) => isPermitted(address))) callback(new AddressRejected(), '');
      else if (options.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}
