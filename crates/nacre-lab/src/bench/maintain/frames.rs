//! Statements about projects, each in three wordings and with its opposite.
//!
//! Each memory gets different values for the placeholders `{c}` (a part of the system), `{t}` and
//! `{u}` (tools), `{p}` (a person), `{d}` (a day), and `{n}` and `{m}` (numbers), so that hundreds
//! of memories are similar but distinct.

pub(crate) struct Frame {
    pub(crate) titles: [&'static str; 3],
    pub(crate) bodies: [&'static str; 3],
    /// Title and body of the opposite statement.
    pub(crate) contrary: (&'static str, &'static str),
}

const fn frame(
    titles: [&'static str; 3],
    bodies: [&'static str; 3],
    contrary: (&'static str, &'static str),
) -> Frame {
    Frame { titles, bodies, contrary }
}

pub(crate) const FRAMES: &[Frame] = &[
    frame(
        [
            "Requests to {c} time out after {n} seconds",
            "{c} gives up on a request after {n} seconds",
            "The timeout for requests to {c} is {n} seconds",
        ],
        [
            "Longer waits piled up threads until the pool was empty.",
            "When we waited longer, the thread pool ran empty.",
            "The pool of threads was exhausted by longer waits.",
        ],
        (
            "Requests to {c} no longer time out after {n} seconds but after {m}",
            "{n} seconds was too short for the big customers, so the timeout of {c} was changed to {m}.",
        ),
    ),
    frame(
        ["Use {t} for {c}", "{c} is built on {t}", "We chose {t} for {c}"],
        [
            "{u} was tried and could not keep up with the load.",
            "Under load {u} fell behind, so it was ruled out.",
            "{u} did not keep up when it was tried under load.",
        ],
        (
            "Do not use {t} for {c} any more, it moved to {u}",
            "{t} turned out to be a mistake; {c} was migrated to {u} and {t} is gone.",
        ),
    ),
    frame(
        [
            "{p} must approve changes to {c}",
            "Changes to {c} need the approval of {p}",
            "Nothing in {c} is changed unless {p} approves it",
        ],
        [
            "An unreviewed change once took billing down for a day.",
            "Billing was down for a day after a change nobody had reviewed.",
            "A change without review broke billing for a whole day.",
        ],
        (
            "{p} no longer has to approve changes to {c}",
            "The approval was a bottleneck; from now on anybody on the team may approve changes to {c}.",
        ),
    ),
    frame(
        [
            "Run {t} before committing to {c}",
            "Before a commit to {c}, run {t}",
            "Commits to {c} want a run of {t} first",
        ],
        [
            "CI rejects the commit otherwise, after twenty minutes.",
            "Otherwise CI says no, and only after twenty minutes.",
            "Without it CI fails twenty minutes later.",
        ],
        (
            "There is no need to run {t} before committing to {c} any more",
            "CI runs {t} by itself now and pushes the result, so leave it.",
        ),
    ),
    frame(
        [
            "{c} is deployed every {d}",
            "Deployments of {c} happen on {d}",
            "{d} is the day {c} gets deployed",
        ],
        [
            "Support is fully staffed then and can answer questions.",
            "That is when support has enough people to answer.",
            "On that day support is complete and can take calls.",
        ],
        (
            "{c} is no longer deployed every {d} but on each merge",
            "Waiting for {d} was given up; continuous deployment replaces it for {c}.",
        ),
    ),
    frame(
        [
            "Logs of {c} are kept for {n} days",
            "{c} keeps its logs for {n} days",
            "We retain the logs of {c} for {n} days",
        ],
        [
            "The auditors asked for that in the spring review.",
            "In the spring review the auditors wanted it that way.",
            "That is what the auditors demanded in spring.",
        ],
        (
            "Logs of {c} are now kept for {m} days instead of {n}",
            "The auditors changed the rule; {n} days is no longer enough for {c}.",
        ),
    ),
    frame(
        [
            "Never mock {t} in the tests of {c}",
            "The tests of {c} do not mock {t}",
            "Tests of {c} use the real {t}, not a mock",
        ],
        [
            "A mock stayed green while the real thing failed in production.",
            "Production failed although the mocked test was green.",
            "The mocked test passed and production broke.",
        ],
        (
            "Mock {t} in the tests of {c} from now on",
            "The real {t} made the tests of {c} take forty minutes; a mock is fine again.",
        ),
    ),
    frame(
        [
            "{c} accepts at most {n} items in one call",
            "One call to {c} may carry {n} items at most",
            "Send no more than {n} items to {c} at once",
        ],
        [
            "Beyond that the gateway cuts the body without an error.",
            "The gateway silently truncates the body beyond that.",
            "Above it the body is truncated by the gateway, silently.",
        ],
        (
            "{c} now accepts {m} items in one call instead of {n}",
            "The gateway was replaced, so the limit of {n} items for {c} is obsolete.",
        ),
    ),
    frame(
        [
            "{p} knows how {c} works; ask there first",
            "Ask {p} about {c} before anybody else",
            "Questions about {c} go to {p}",
        ],
        [
            "The documentation is two years old and wrong in places.",
            "What is written down is two years old and partly wrong.",
            "The docs are outdated by two years and not reliable.",
        ],
        (
            "{p} no longer looks after {c}",
            "{p} left the team, so do not ask there any more; the docs of {c} were rewritten.",
        ),
    ),
    frame(
        [
            "Feature flags of {c} live in {t}",
            "{t} holds the feature flags of {c}",
            "{c} reads its feature flags from {t}",
        ],
        [
            "Product wants to switch them without a release.",
            "So that product can flip them with no release.",
            "Product people toggle them and need no release for it.",
        ],
        (
            "Feature flags of {c} moved out of {t}",
            "{t} is no longer used for the flags of {c}; they are in a plain file now, since the service was too slow.",
        ),
    ),
    frame(
        [
            "The cache of {c} must be cleared after a migration",
            "After a migration, clear the cache of {c}",
            "Migrations leave {c} with a stale cache; clear it",
        ],
        [
            "Stale rows were shown to customers for an hour.",
            "For an hour customers saw old rows.",
            "Customers looked at outdated rows for about an hour.",
        ],
        (
            "The cache of {c} need not be cleared after a migration any more",
            "{c} versions its keys by itself now, so clearing is not necessary and only costs time.",
        ),
    ),
    frame(
        [
            "{c} writes times in UTC",
            "Times in {c} are stored in UTC",
            "All timestamps of {c} are UTC",
        ],
        [
            "Local times broke the reports when the clocks changed.",
            "When the clocks changed, reports with local times were wrong.",
            "Reports were off at the clock change because of local times.",
        ],
        (
            "{c} no longer writes times in UTC but in local time",
            "The bank insists on local time for {c}; UTC was dropped there.",
        ),
    ),
    frame(
        [
            "Retry calls to {c} {n} times",
            "Calls to {c} are retried {n} times",
            "A failed call to {c} is tried {n} more times",
        ],
        [
            "Its load balancer drops a connection now and then.",
            "Now and then the balancer drops a connection.",
            "The balancer in front of it loses connections sometimes.",
        ],
        (
            "Calls to {c} are not retried {n} times any more",
            "Retries made the outage of {c} worse; after all one attempt is enough.",
        ),
    ),
    frame(
        [
            "{c} needs {t} in version {n}",
            "Version {n} of {t} is required by {c}",
            "{c} only works with {t} {n}",
        ],
        [
            "The next major release changed the wire format.",
            "The wire format changed in the next major release.",
            "A later major version has another wire format.",
        ],
        (
            "{c} needs {t} in version {m} now, not {n}",
            "{t} {n} is deprecated; {c} was upgraded to {m} last week.",
        ),
    ),
    frame(
        [
            "Do not log the request body in {c}",
            "{c} must not log request bodies",
            "Request bodies never go to the log of {c}",
        ],
        [
            "They hold addresses of customers, and the log is shared.",
            "The log is shared and bodies contain customer addresses.",
            "Customer addresses are in there, and others can read the log.",
        ],
        (
            "Log the request body in {c} again",
            "Without bodies nobody could debug {c}; addresses are masked now, so logging them is allowed.",
        ),
    ),
    frame(
        [
            "The nightly job of {c} starts at {n}:15",
            "{c} runs its nightly job at {n}:15",
            "At {n}:15 the nightly job of {c} begins",
        ],
        [
            "It locks the orders table for ten minutes; schedule nothing then.",
            "For ten minutes the orders table is locked, so plan nothing.",
            "Nothing should be scheduled then, the orders table is locked.",
        ],
        (
            "The nightly job of {c} no longer starts at {n}:15",
            "It was moved to {m}:45 since the backup of {c} needed the time before.",
        ),
    ),
    frame(
        [
            "{c} is flaky on {t}",
            "Failures of {c} on {t} are often not real",
            "On {t} the tests of {c} fail at random",
        ],
        [
            "Rerun once before you look for a cause in your change.",
            "Before searching your change for a cause, run it again.",
            "Start it a second time before you suspect your change.",
        ],
        (
            "{c} is stable on {t} again",
            "The race in {c} is fixed, so a failure on {t} is real now; do not rerun it.",
        ),
    ),
    frame(
        [
            "Pull requests for {c} stay below {n} lines",
            "Keep pull requests to {c} under {n} lines",
            "No pull request for {c} has more than {n} lines",
        ],
        [
            "{p} reviews on the train and wants small pieces.",
            "Small pieces, because {p} reviews them on the train.",
            "{p} reads them on the train and likes small ones.",
        ],
        (
            "Pull requests for {c} may be larger than {n} lines now",
            "The limit of {n} lines for {c} is given up; splitting cost more than it saved.",
        ),
    ),
    frame(
        [
            "Secrets of {c} come from {t}",
            "{c} gets its secrets from {t}",
            "{t} is where the secrets of {c} are kept",
        ],
        [
            "They stood in the environment and ended up in a crash dump.",
            "A crash dump contained them when they were in the environment.",
            "From the environment they leaked into a crash dump.",
        ],
        (
            "Secrets of {c} no longer come from {t}",
            "{t} was switched off; {c} takes them from mounted files from now on.",
        ),
    ),
    frame(
        [
            "{c} sends mail through {t} only",
            "Mail from {c} goes through {t}",
            "{t} delivers all mail of {c}",
        ],
        [
            "Everything else ended in the spam folder of large providers.",
            "Large providers put the rest into spam.",
            "Other routes landed in spam at the big providers.",
        ],
        (
            "{c} does not send mail through {t} any more",
            "{t} doubled its price, so mail of {c} was moved to {u}.",
        ),
    ),
    frame(
        [
            "Start {t} before the integration tests of {c}",
            "The integration tests of {c} need {t} running",
            "Without {t} the integration tests of {c} hang",
        ],
        [
            "They wait two minutes and then report a refused connection.",
            "After two minutes they end with connection refused.",
            "A refused connection is reported, two minutes later.",
        ],
        (
            "The integration tests of {c} start {t} by themselves now",
            "There is no need to run {t} by hand for {c} any more.",
        ),
    ),
    frame(
        [
            "Error messages of {c} never show internal ids",
            "{c} must not show internal ids in errors",
            "No internal id appears in an error of {c}",
        ],
        [
            "Support asked for it, since people post them in forums.",
            "People paste them into forums, so support asked for it.",
            "On request of support: users publish them.",
        ],
        (
            "Error messages of {c} show internal ids again",
            "Support changed its mind: without ids nobody found the cause in {c}.",
        ),
    ),
    frame(
        [
            "{c} is written in {t}, and stays so",
            "Keep {c} in {t}",
            "There is no rewrite of {c}: it stays in {t}",
        ],
        [
            "A rewrite was started twice and given up twice.",
            "Twice a rewrite was begun, and twice abandoned.",
            "Two attempts to rewrite it were abandoned.",
        ],
        (
            "{c} is rewritten from {t} in {u}",
            "The old {t} code of {c} could not be built any more, so it goes away after all.",
        ),
    ),
    frame(
        [
            "Backups of {c} are tested every {d}",
            "Every {d} a backup of {c} is restored as a test",
            "We restore {c} from its backup each {d}",
        ],
        [
            "Last year a backup could not be read when it was needed.",
            "When it was needed last year, the backup was unreadable.",
            "An unreadable backup was noticed too late last year.",
        ],
        (
            "Backups of {c} are not tested every {d} any more",
            "The restore test of {c} runs by itself after each backup now.",
        ),
    ),
];

/// Combined with `ROLES` to name parts of a system, so that each word is shared by many parts.
pub(crate) const DOMAINS: &[&str] = &[
    "payments",
    "invoice",
    "login",
    "stock",
    "warehouse",
    "newsletter",
    "fraud",
    "calendar",
    "coupon",
    "shipping",
    "returns",
    "catalogue",
    "review",
    "translation",
    "partner",
    "license",
    "survey",
    "sensor",
    "route",
    "ticket",
    "document",
    "currency",
    "loyalty",
    "audit",
];
pub(crate) const ROLES: &[&str] = &[
    "service",
    "importer",
    "exporter",
    "page",
    "worker",
    "scheduler",
    "gateway",
    "dashboard",
    "parser",
    "indexer",
    "validator",
    "archive",
    "client",
    "queue",
    "renderer",
];

pub(crate) const TOOLS: &[&str] = &[
    "Postgres",
    "Redis",
    "Kafka",
    "RabbitMQ",
    "SQLite",
    "Vitest",
    "Playwright",
    "Terraform",
    "Ansible",
    "Vault",
    "Consul",
    "Nginx",
    "Envoy",
    "Grafana",
    "Sentry",
    "Datadog",
    "Celery",
    "Sidekiq",
    "Django",
    "Rails",
    "Kotlin",
    "Elixir",
    "Haskell",
    "Scala",
    "Bazel",
    "Gradle",
    "Webpack",
    "Vite",
    "Esbuild",
    "Docker",
    "Podman",
    "Nomad",
    "Firebase",
    "Supabase",
    "Stripe",
    "Adyen",
    "Mailgun",
    "Postmark",
    "LaunchDarkly",
    "Unleash",
    "Cypress",
    "Pytest",
    "Ruff",
    "Mypy",
    "Eslint",
    "Prettier",
    "Clickhouse",
    "Cassandra",
    "Neo4j",
    "Memcached",
];

pub(crate) const PEOPLE: &[&str] = &[
    "Mara", "Jonas", "Priya", "Tomasz", "Aisha", "Lukas", "Noor", "Emeka", "Sofia", "Hiro", "Lena",
    "Diego", "Yara", "Oskar", "Mei", "Farid", "Greta", "Ivan", "Zoe", "Kofi",
];

pub(crate) const DAYS: &[&str] =
    &["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// Unrelated remarks that make the text of each memory unique.
pub(crate) const ASIDES: &[&str] = &[
    "The person said so twice in one week.",
    "This came up while the checkout was rewritten.",
    "It was agreed in the planning of the third quarter.",
    "A customer in Lisbon found it first.",
    "The first attempt was reverted after an hour.",
    "Two incidents in March had this cause.",
    "It is not written down anywhere else.",
    "A new colleague lost a day over it.",
    "The vendor confirmed it in a support ticket.",
    "It only shows under real traffic.",
    "Nobody objected when it was proposed.",
    "The reason is older than the current team.",
    "It was measured on the staging cluster.",
    "An intern noticed it by chance.",
    "The old wiki page says something else.",
    "It holds for the European region too.",
    "Legal looked at it and agreed.",
    "The dashboard shows it in the second row.",
    "It was hidden behind a flag for a month.",
    "The post-mortem has the details.",
    "Three teams depend on it.",
    "It surprised everybody at the demo.",
    "The budget for it was approved.",
    "It was the cheapest of four options.",
];
