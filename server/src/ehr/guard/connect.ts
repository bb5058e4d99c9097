import { lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import type { SecureContext } from 'node:tls';
import { buildConnector } from 'undici';
import { isLoopback } from '../../config/rules/loopback.ts';
import { clientCertificateRejected } from '../../log/connection-fault.ts';
import { mayConnectTo } from './addresses.ts';
import type { EhrTls } from './ehr-tls.ts';

export interface ConnectSettings {
  readonly connectTimeoutMs: number;
  readonly allowPrivateAddresses: boolean;
  /** Whether addresses of other machines may be connected to without TLS. */
  readonly allowPlainText: boolean;
  /** Absent: only the default authorities are trusted, and no certificate is shown. */
  readonly tls?: Pick<EhrTls, 'refresh'> | undefined;
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
  { connectTimeoutMs, tls }: ConnectSettings,
  isPermitted: (address: string) => boolean,
): buildConnector.connector {
  const common = {
    timeout: connectTimeoutMs,
    allowH2: false,
    rejectUnauthorized: true,
    lookup: permittedLookup(isPermitted),
  };
  const connect = tls ? withCertificates(common, tls) : buildConnector(common);
  return (options, callback) => {
    // An IP address needs no DNS look-up.
    if (isIP(options.hostname) && !isPermitted(options.hostname)) callback(new AddressRejected(), null);
    else connect(options, keepingAlerts(callback));
  };
}

/**
 * Over TLS 1.3 a server rejects the client's certificate only after the handshake. Without this, undici reports that the
 * connection has closed, which it does right after the alert, so that the request might have been processed.
 */
function keepingAlerts(callback: buildConnector.Callback): buildConnector.Callback {
  return (...[error, socket]) => {
    if (error) return callback(error, null);
    socket.on('error', (fault: NodeJS.ErrnoException) => {
      if (clientCertificateRejected.test(fault.code ?? '')) socket.destroy(fault);
    });
    callback(null, socket);
  };
}

/** Every certificate has a connector of its own, because a TLS session that is resumed keeps the former certificate. */
function withCertificates(common: buildConnector.BuildOptions, tls: Pick<EhrTls, 'refresh'>): buildConnector.connector {
  let current: { readonly secureContext: SecureContext; readonly connect: buildConnector.connector } | undefined;
  return (options, callback) => {
    tls
      .refresh()
      .then((secureContext) => {
        if (current?.secureContext !== secureContext) {
          current = { secureContext, connect: buildConnector({ ...common, secureContext }) };
        }
        current.connect(options, callback);
      })
      .catch((error: Error) => callback(error, null));
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
