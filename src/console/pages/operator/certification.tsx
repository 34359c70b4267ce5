import { AnswerError } from '../../api/call.ts';
import { useLive } from '../../api/queries.ts';
import type { Answers } from '../../api/wire.ts';
import { Answered } from '../../parts/answered.tsx';
import { Badge } from '../../parts/badge.tsx';
import { Time } from '../../parts/clock.tsx';
import { Plain } from '../../parts/plain.tsx';
import { wordsOf } from '../../parts/tone.ts';

type Certificate = Answers['GET /admin/operators/:id/certificate'];

/** The result of the wallet's last certification. */
export function Certification({ id }: { readonly id: string }) {
  const path = { id };
  const certificate = useLive('GET /admin/operators/:id/certificate', { path, everyMs: false });
  const { error } = certificate;
  const isNone = error instanceof AnswerError && error.status === 404;
  return (
    <section aria-labelledby="certification">
      <h2 id="certification">Certification</h2>
      {isNone ? (
        <p className="muted">
          None is here: <code>wagergate certify --out</code> writes one to{' '}
          <code>certificates/{id}</code> of the configuration folder.
        </p>
      ) : (
        <Answered query={certificate} what="certificate">
          {(data) => <CertificateView certificate={data} />}
        </Answered>
      )}
    </section>
  );
}

const TONES = { fit: 'good', fit_with_dialect: 'good', not_fit: 'bad' } as const;

function CertificateView({ certificate }: { readonly certificate: Certificate }) {
  const { verdict, summary, startedAt, complete, wallet, findings } = certificate;
  return (
    <>
      <p>
        <Badge state={verdict} tone={TONES[verdict]} />{' '}
        {!complete && <Badge state="not every case was tried" tone="warn" />}{' '}
        <Plain text={summary} />{' '}
        <span className="muted">
          <Time at={startedAt} />, <Plain text={wallet} />
        </span>
      </p>
      {findings.length > 0 && (
        <ul className="problems findings">
          {findings.map((finding) => (
            <li key={finding.case}>
              <strong>
                <Plain text={finding.title} />
              </strong>{' '}
              <span className="muted">
                {wordsOf(finding.meaning)}, <code>{finding.case}</code>
              </span>
              <br />
              <Plain text={finding.advice} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
