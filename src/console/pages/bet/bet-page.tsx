import { getRouteApi, Link } from '@tanstack/react-router';
import { useLive } from '../../api/queries.ts';
import { Answered } from '../../parts/answered.tsx';
import { Badge } from '../../parts/badge.tsx';
import { Time } from '../../parts/clock.tsx';
import { Amount, Id } from '../../parts/copyable.tsx';
import { Fact } from '../../parts/facts.tsx';
import { Heading } from '../../parts/heading.tsx';
import { Plain } from '../../parts/plain.tsx';
import type { ShownBet } from './bet.ts';
import { MessagePanel } from './message-panel.tsx';
import { sequenceOf } from './sequence.ts';
import { SequencePicture } from './sequence-picture.tsx';
import { Steps } from './steps.tsx';
import { stateOf, storyOf } from './story.ts';

const route = getRouteApi('/bets/$id');

/** What happened to one bet, and what can be done about it now. */
export function BetStoryPage() {
  const { id } = route.useParams();
  const bet = useLive('GET /admin/bets/:transactionId', { path: { transactionId: id } });
  return (
    <>
      <Heading title={`Bet ${id}`} query={bet} />
      <Answered query={bet} what="bet of this id">
        {(data) => <BetStory bet={data} />}
      </Answered>
    </>
  );
}

function BetStory({ bet }: { readonly bet: ShownBet }) {
  const { message } = route.useSearch();
  const navigate = route.useNavigate();
  const sequence = sequenceOf(bet);
  const opened = sequence.find((step) => step.message.key === message)?.message;
  const open = (key: string | undefined) =>
    void navigate({ search: key === undefined ? {} : { message: key }, resetScroll: false });
  const now = stateOf(bet);
  return (
    <div className="bet">
      <p className={`standing ${now.tone}`}>
        <Plain text={now.text} />
      </p>
      <Facts bet={bet} />
      <section aria-labelledby="may-be-done">
        <h2 id="may-be-done">What may be done now</h2>
        <Steps bet={bet} />
      </section>
      <section aria-labelledby="story">
        <h2 id="story">What happened</h2>
        <ol className="story">
          {storyOf(bet).map(({ at, tone, text }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: sentences keep their place
            <li key={index} className={tone}>
              <Time at={at} /> <Plain text={text} />
            </li>
          ))}
        </ol>
      </section>
      <section aria-labelledby="messages">
        <h2 id="messages">Messages</h2>
        <SequencePicture steps={sequence} onOpen={open} />
      </section>
      <MessagePanel message={opened} onClose={() => open(undefined)} />
    </div>
  );
}

function Facts({ bet }: { readonly bet: ShownBet }) {
  const { operator, settlement } = bet;
  return (
    <dl className="facts">
      <Fact name="State">
        <Badge state={bet.state} />
      </Fact>
      <Fact name="Bet id">
        <Id text={bet.transactionId} name="bet id" />
      </Fact>
      <Fact name="Operator">
        {operator === null ? (
          <span className="muted">not known</span>
        ) : (
          <Link to="/operators/$id" params={{ id: operator }}>
            <Plain text={operator} />
          </Link>
        )}
      </Fact>
      <Fact name="Player at the operator">
        <Id text={bet.operatorUser} name="player" />
      </Fact>
      <Fact name="Player at the service">
        <Id text={bet.userId} name="user id" />{' '}
        {bet.userId !== null && (
          <Link to="/players/$id" params={{ id: bet.userId }}>
            open
          </Link>
        )}
      </Fact>
      <Fact name="Stake">
        <Amount amount={bet.amount} currency={bet.currency} />
        {bet.bonusId != null && <span className="muted"> freebet</span>}
      </Fact>
      <Fact name="Result">
        <Amount amount={settlement.amount} currency={bet.currency} />
        {bet.state === 'settlement_unknown' && (
          <span className="muted"> {doubtAbout(settlement)}</span>
        )}
      </Fact>
      <Fact name="Placed">
        <Time at={bet.createdAt} />
      </Fact>
    </dl>
  );
}

/** Only one sent result has an amount; after several of them nobody can tell which. */
function doubtAbout({ amount, resultType }: ShownBet['settlement']): string {
  if (amount !== null) return 'sent; whether the wallet has it is unknown';
  return resultType === 'unsettle'
    ? 'taken back; whether the wallet has done so is unknown'
    : 'several were sent; which of them the wallet holds is unknown';
}
