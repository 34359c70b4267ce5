import { Time } from '../../parts/clock.tsx';
import { Plain } from '../../parts/plain.tsx';
import { spanText } from '../../parts/times.ts';
import { type Message, PARTIES, type SequenceStep } from './sequence.ts';

interface SequencePictureProps {
  readonly steps: readonly SequenceStep[];
  readonly onOpen: (key: string) => void;
}

/** A sequence diagram: service, gateway and wallet side by side, time downwards, an arrow for each message. */
export function SequencePicture({ steps, onOpen }: SequencePictureProps) {
  if (steps.length === 0) return <p className="muted">No message is on record.</p>;
  return (
    <div className="sequence">
      <div className="lanes" aria-hidden="true">
        <span />
        {PARTIES.map((lane) => (
          <span key={lane}>{lane}</span>
        ))}
      </div>
      <ol>
        {steps.map(({ message, waitedMs }) => (
          <li key={message.key}>
            {waitedMs !== undefined && (
              <p className="waited">
                <span>{spanText(waitedMs)} later</span>
              </p>
            )}
            <Arrow message={message} onOpen={onOpen} />
          </li>
        ))}
      </ol>
    </div>
  );
}

function Arrow({
  message,
  onOpen,
}: {
  readonly message: Message;
  readonly onOpen: (key: string) => void;
}) {
  const { from, to, tone, label, at, key } = message;
  const [left, right] = [PARTIES.indexOf(from), PARTIES.indexOf(to)].sort((a, b) => a - b);
  const side = PARTIES.indexOf(from) < PARTIES.indexOf(to) ? 'rightward' : 'leftward';
  return (
    <div className="step">
      <span className="step-time">
        <Time at={at} />
      </span>
      <button
        type="button"
        className={`arrow ${side} ${tone} from-${left} to-${right}`}
        onClick={() => onOpen(key)}
        data-row-link
      >
        <span className="sr-only">
          {from} to {to}:{' '}
        </span>
        <span className="arrow-label">
          <Plain text={label} />
        </span>
        <span className="arrow-line" aria-hidden="true" />
      </button>
    </div>
  );
}
