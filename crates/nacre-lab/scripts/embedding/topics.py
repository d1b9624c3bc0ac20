"""Seeds of the synthetic conversations: names, everyday topics, software topics and opening words."""
NAMES = """Ana Ben Chloe Dan Elena Farid Grace Hugo Ines Jack Karin Leo Maya Nick Olga Paul Quinn Rosa Sam Tara Umar Vera Will Xenia Yusuf Zoe
Amy Bruno Carla Diego Ella Frank Gina Henry Irene Joel Kate Liam Mona Nora Oscar Petra Ravi Sara Tom Ursula Victor Wendy Alan Beth""".split()
DAILY = """gardening|a new job|a trip to the coast|learning the piano|a broken bicycle|a birthday party|moving to a new flat|a sick cat|training for a race|
a cooking class|painting|a family wedding|a camping weekend|volunteering at a shelter|a school play|the new baby|a book club|a road trip|yoga|pottery|
an art exhibition|photography|a job interview|a promotion|changing careers|a divorce|a visit from grandparents|adopting a dog|building a treehouse|
a film festival|a concert|a board game night|fishing|hiking in the mountains|a charity event|a football match|swimming lessons|a dance competition|
starting a small business|opening a shop|losing a job|saving money|buying a car|a car accident|going to the dentist|back pain|healthy eating|quitting smoking|
sleep problems|meditation|a therapy session|childhood memories|an old friend|a neighbour's noise|home renovation|a leaking roof|new furniture|a garden pond|
bird watching|astronomy|a science project|homework|exams|university applications|a scholarship|learning Spanish|a language exchange|a trip to Japan|a lost passport|
a delayed flight|hotel bookings|a cruise|skiing|surfing|a museum visit|a museum job|writing a novel|a poetry reading|a podcast|a favourite band|a guitar|singing in a choir|
video games|a chess tournament|knitting|sewing a dress|jewellery making|woodworking|model trains|collecting stamps|antiques|a flea market|recycling|climate worries|a protest march|
an election|church|a holiday tradition|Christmas presents|a Halloween costume|Thanksgiving dinner|New Year plans|a surprise party|a retirement|an anniversary|first date|
a long-distance relationship|a marriage proposal|a roommate|a landlord|a new recipe|baking bread|a vegan diet|coffee|wine tasting|a restaurant|a farmers market|beekeeping|
a fitness tracker|a gym membership|a broken leg|an operation|allergies|a migraine|a doctor's advice|a new phone|a smart watch|a laptop repair|a photo album|a family reunion|
a funeral|a gift for mother|a nephew's birthday|a daughter's recital|a son's football team|parenting advice|a babysitter|summer camp|a day at the zoo|an aquarium|a theme park|a picnic|
a storm|a power cut|snow|a heat wave|a commute|public transport|a parking ticket|a motorbike|sailing|kayaking|climbing|a marathon|basketball|tennis|cycling to work|horse riding|
a documentary|a fantasy series|a comic collection|a theatre play|stand-up comedy|graffiti|architecture|interior design|a tattoo|a haircut|fashion|a clothing brand|a thrift shop""".replace("\n", "").split("|")
SOFTWARE = """choosing a web framework|a slow database query|user authentication|a memory leak|a failing test in CI|a flaky test|docker images|deploying to production|a rollback|
error handling|logging|rate limiting|caching with Redis|a message queue|a race condition|a deadlock|database migrations|schema design|an ORM|API versioning|REST and GraphQL|
websockets|background jobs|a cron job|retries and timeouts|payment webhooks|sending email|file uploads|object storage|full text search|vector search|pagination|sorting and filtering|
a React component|state management|CSS layout|accessibility|form validation|dark mode|internationalisation|a mobile app|push notifications|offline mode|a command line tool|
configuration files|environment variables|secrets management|access control|audit logs|a security hole|SQL injection|dependency updates|a breaking change|semantic versions|a monorepo|
git branches|a merge conflict|code review|naming conventions|refactoring a large module|dead code|type checking|linting and formatting|documentation|an architecture decision|
microservices|a monolith|serverless functions|kubernetes|terraform|load balancing|monitoring and alerts|tracing|a performance benchmark|profiling|async code|threads|a parser|
a compiler error|a Rust borrow checker problem|Python packaging|TypeScript types|Go modules|a Java build|C++ linking|machine learning pipeline|data import|CSV export|time zones|
unicode bugs|floating point rounding|a date picker|a plugin system|feature flags|A/B tests|a chat bot|a language model|prompt design|embedding models|an agent's memory|
project planning|a release checklist|an incident report|on-call duty|a customer bug report|a legacy system|a rewrite|test fixtures|mocking|property tests|snapshot tests|end-to-end tests|
SQLite|PostgreSQL|MongoDB|Kafka|nginx|FastAPI|Django|Next.js|Vue|Svelte|Tailwind|Vite|webpack|Prisma|Stripe|JWT tokens|OAuth login|session cookies|CORS|TLS certificates|DNS|
a Makefile|GitHub Actions|pre-commit hooks|Bazel|npm scripts|poetry|virtual environments|Jupyter notebooks|pandas|numpy|PyTorch|CUDA|WebAssembly|gRPC|protobuf|JSON schema|YAML|TOML|markdown""".replace("\n", "").split("|")
OPEN_USER = ["I", "I'm", "I've been", "My", "I just", "Can you", "I recently", "I need", "What", "How", "I'm thinking of", "By the way, I", "Do you", "I was", "Last week I", "I'm planning", "I want", "We"]
OPEN_DEV = ["We decided to", "The bug", "Let's", "I'm building", "Our", "I get this error", "We use", "I want to", "How do I", "Why does", "The", "I changed", "Please", "Remember that", "In this project", "We switched from", "Never", "The test"]
SHOTS_DAILY = """Message: Ben: I finally bought the blue kayak yesterday and took it to the lake near my sister's house!
Question: Where did Ben take his new kayak?

Message: Maria: My knee is better now, so I signed up for a half marathon in October.
Question: When is Maria going to run the race?

Message: I have been using the standing desk my brother gave me, and my back hurts less.
Question: Who gave me the desk?

Message: Lena: I baked three loaves of sourdough for the school fair and they were gone in ten minutes.
Question: What did Lena make for the school fair?

"""
SHOTS_DEV = """Message: We moved the login service to Redis because the old cache kept losing sessions.
Question: Why was Redis chosen for the login service?

Message: The test failed since the fixture used local time; I changed it to UTC in `conftest.py`.
Question: How was the failing time zone test fixed?

Message: All public functions return a Result, and errors are made with thiserror.
Question: What is the convention for error handling in this project?

Message: Let's deploy with Docker Compose on the small server, one container for the API and one for Postgres.
Question: How is the project deployed?

"""
