import { useState } from 'react';
import { call } from '../../api/call.ts';
import type { Answers } from '../../api/wire.ts';
import { Action } from '../../parts/action.tsx';
import { Badge } from '../../parts/badge.tsx';
import { Ago, Time } from '../../parts/clock.tsx';
import { Id } from '../../parts/copyable.tsx';
import { Fact } from '../../parts/facts.tsx';
import { Plain } from '../../parts/plain.tsx';

type Probed = Answers['POST /admin/operators/:id/probe'];

/** Sends a harmless request to an operator's wallet, and shows its answer and its certificate. */
export function WalletProbe({
  operator: { id },
}: {
  readonly operator: Answers['GET /admin/operators/:id'];
}) {
  const [probed, setProbed] = useState<Probed | undefined>();
  return (
    <section aria-labelledby="wallet">
      <h2 id="wallet">The wallet</h2>
      <div className="switch">
        {probed === undefined ? (
          <p className="muted">Not asked yet.</p>
        ) : (
          <p role="status">
            <Badge state={probed.result} tone={TONES[probed.result]} />{' '}
            <Plain text={probed.detail} />{' '}
            <span className="muted">
              {probed.latencyMs} ms, <Plain text={probed.wallet} />
            </span>
          </p>
        )}
        <Action
          right="operate"
          label="Probe"
          title={`Probe the wallet of ${id}`}
          about="Asks for the balance of a player that does not exist, signed as every call is. No money moves; a good wallet refuses with a code."
          reason="none"
          run={async () =>
            setProbed(await call('POST /admin/operators/:id/probe', { path: { id } }))
          }
        />
      </div>
      {probed !== undefined && <Certificates probed={probed} />}
    </section>
  );
}

const TONES = { ok: 'good', odd: 'warn', unreachable: 'bad' } as const;

function Certificates({ probed: { certificate, ownCertificate, wallet } }: { probed: Probed }) {
  return (
    <>
      {certificate === null ? (
        <p className="muted">
          {wallet.startsWith('https:')
            ? 'No connection, so no certificate of the wallet.'
            : 'Without TLS there is no certificate.'}
        </p>
      ) : (
        <CertificateFacts title="Certificate of the wallet" certificate={certificate} />
      )}
      {ownCertificate !== null && (
        <CertificateFacts
          title="Certificate that the gateway shows it"
          certificate={ownCertificate}
        />
      )}
    </>
  );
}

const SOON_MS = 21 * 86_400_000;

function CertificateFacts({
  title,
  certificate: { subject, issuer, validFrom, validTo, sha256 },
}: {
  readonly title: string;
  readonly certificate: NonNullable<Probed['certificate']>;
}) {
  const leftMs = Date.parse(validTo) - Date.now();
  return (
    <>
      <h3>{title}</h3>
      <dl className="facts">
        <Fact name="Of">
          <Plain text={subject.replaceAll('\n', ', ')} />
        </Fact>
        <Fact name="By">
          <Plain text={issuer.replaceAll('\n', ', ')} />
        </Fact>
        <Fact name="Good">
          <Time at={validFrom} /> to <Time at={validTo} />{' '}
          {leftMs < SOON_MS && (
            <>
              <Badge state={leftMs < 0 ? 'over' : 'ends soon'} tone={leftMs < 0 ? 'bad' : 'warn'} />{' '}
              <Ago at={validTo} />
            </>
          )}
        </Fact>
        <Fact name="SHA-256">
          <Id text={sha256} name="SHA-256" />
        </Fact>
      </dl>
    </>
  );
}
