class Nacre < Formula
  desc "@DESCRIPTION@"
  homepage "@REPOSITORY@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

@ARCHIVES@
  def install
    bin.install "nacre"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/nacre.bash" => "nacre"
    zsh_completion.install "completions/nacre.zsh" => "_nacre"
    fish_completion.install "completions/nacre.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/nacre --version")
  end
end
